import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { forTest } from '../../support/lifetime.ts'
import { nodeForTest, startTestServer, type TestServer, through } from '../../support/server.ts'

const quota = 5
const numbers = (first: number) => Array.from({ length: quota }, (_, index) => String(34_600_200_000 + first + index))

async function countWaiting(db: TestServer['deps']['db'], kind = 'advisory'): Promise<number> {
  // Other tests wait for such locks in other databases.
  const { rows } = await sql`
    select from pg_locks l join pg_stat_activity a using (pid)
    where l.locktype = ${kind} and not l.granted and a.datname = current_database()`.execute(db)
  return rows.length
}

/** Two processes with one database. `add` imports recipients through one of them. */
async function startTwo() {
  const deps = { quotas: { suppressions: quota, templates: 1, savedViews: 1 } }
  const server = await forTest(startTestServer({ deps }))
  const other = await nodeForTest(server, { deps })
  const account = await server.account()
  const add = (node: TestServer, recipients: string[]) =>
    through(node, account).post('/api/v1/suppression/import', { recipients })
  return { server, other, account, db: server.deps.db, add }
}

/** Adds a recipient, and lets the next process that meets the quota count the list again. */
async function addOneAndExpireCount({ server, db, add }: Awaited<ReturnType<typeof startTwo>>): Promise<void> {
  await add(server, numbers(0).slice(0, 1))
  await sql`update suppression_usage set counted_at = counted_at - interval '1 minute'`.execute(db)
}

test('holds the quota if a process counts the list while another one counts it and adds recipients', async () => {
  const { server, other, account, db, add } = await startTwo()
  // The first count waits before it is stored.
  await sql`create sequence counts`.execute(db)
  await sql`
    create function wait_first() returns trigger language plpgsql as $$
    begin if nextval('counts') = 1 then perform pg_advisory_xact_lock(7); end if; return new; end $$`.execute(db)
  await sql`
    create trigger wait_first before insert on suppression_usage for each row execute function wait_first()`.execute(db)

  const late = await db.connection().execute(async (holder) => {
    await sql`select pg_advisory_lock(7)`.execute(holder)
    const waiting = add(other, numbers(100))
    await expect.poll(() => countWaiting(db)).toBe(1)
    expect((await add(server, numbers(0))).statusCode).toBe(200)
    await sql`select pg_advisory_unlock(7)`.execute(holder)
    return { response: await waiting }
  })

  expect(late.response.json().error.code).toBe('SUPPRESSION_QUOTA_EXCEEDED')
  expect((await account.trpc.suppression.list.query({})).items).toHaveLength(quota)
})

test('holds the quota if a process counts the list between the reservation and the commit of another one', async () => {
  const two = await startTwo()
  const { server, other, account, db, add } = two
  await addOneAndExpireCount(two)
  // The first addition waits before it is stored.
  await sql`
    create function wait() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock(7); return new; end $$`.execute(db)
  await sql`
    create trigger wait before insert on suppressions for each row
    when (new.to_number = ${sql.lit(numbers(100)[0])}) execute function wait()`.execute(db)

  const responses = await db.connection().execute(async (holder) => {
    await sql`select pg_advisory_lock(7)`.execute(holder)
    const first = add(other, numbers(100).slice(0, quota - 1))
    await expect.poll(() => countWaiting(db)).toBe(1)
    const second = add(server, numbers(200).slice(0, quota - 1))
    // It has counted the list, and waits until the recipients of the account are unlocked.
    await expect.poll(() => countWaiting(db)).toBe(2)
    await sql`select pg_advisory_unlock(7)`.execute(holder)
    return Promise.all([first, second])
  })

  expect(responses.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 422])
  expect((await account.trpc.suppression.list.query({})).items).toHaveLength(quota)
})

test('holds the quota if another process adds recipients while the list is counted', async () => {
  const two = await startTwo()
  const { server, other, account, db, add } = two
  await addOneAndExpireCount(two)
  // The addition waits before it is stored, and the count after it was taken.
  await sql`
    create function wait() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock(tg_argv[0]::bigint); return new; end $$`.execute(db)
  await sql`
    create trigger wait before insert on suppressions for each row
    when (new.to_number = ${sql.lit(numbers(100)[0])}) execute function wait(7)`.execute(db)
  await sql`
    create trigger wait before update on suppression_usage for each row
    when (new.counted_at > old.counted_at) execute function wait(8)`.execute(db)

  const responses = await db.connection().execute(async (holder) => {
    await sql`select pg_advisory_lock(7), pg_advisory_lock(8)`.execute(holder)
    const first = add(other, numbers(100).slice(0, quota - 1))
    await expect.poll(() => countWaiting(db)).toBe(1)
    const second = add(server, numbers(200).slice(0, quota - 1))
    await expect.poll(() => countWaiting(db)).toBe(2)
    await sql`select pg_advisory_unlock(7)`.execute(holder)
    // The addition waits for the count.
    await expect.poll(() => countWaiting(db, 'transactionid')).toBe(1)
    await sql`select pg_advisory_unlock(8)`.execute(holder)
    return Promise.all([first, second])
  })

  expect(responses.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 422])
  expect((await account.trpc.suppression.list.query({})).items).toHaveLength(quota)
})
