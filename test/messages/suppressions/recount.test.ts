import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { startTestServer, type TestServer, through } from '../../support/server.ts'

const quota = 5
const numbers = (first: number) => Array.from({ length: quota }, (_, index) => String(34_600_200_000 + first + index))

async function countWaiting(db: TestServer['deps']['db']): Promise<number> {
  // Other tests wait for such locks in other databases.
  const { rows } = await sql`
    select from pg_locks join pg_database d on d.oid = database
    where locktype = 'advisory' and not granted and datname = current_database()`.execute(db)
  return rows.length
}

test('holds the quota if a process counts the list while another one counts it and adds recipients', async () => {
  const deps = { quotas: { suppressions: quota, templates: 1, savedViews: 1 } }
  const server = await startTestServer({ deps })
  const other = await startTestServer({ deps, beside: server })
  const account = await server.account()
  const { db } = server.deps
  // The first count waits before it is stored.
  await sql`create sequence counts`.execute(db)
  await sql`
    create function wait_first() returns trigger language plpgsql as $$
    begin if nextval('counts') = 1 then perform pg_advisory_xact_lock(7); end if; return new; end $$`.execute(db)
  await sql`
    create trigger wait_first before insert on suppression_usage for each row execute function wait_first()`.execute(db)
  const add = (node: typeof server, recipients: string[]) =>
    through(node, account).post('/api/v1/suppression/import', { recipients })

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
  await other.close()
  await server.close()
})
