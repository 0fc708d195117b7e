import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { post, sendOne } from '../../support/callbacks.ts'
import { forFile } from '../../support/lifetime.ts'
import { repliesCallback, text, userMessage } from '../../support/replies.ts'
import { startTestServer, type TestAccount } from '../../support/server.ts'

const quota = 5

const deps = { quotas: { suppressions: quota, templates: 1, savedViews: 1 } }
const server = await forFile(startTestServer({ deps }))
const other = await forFile(startTestServer({ deps, beside: server }))
let account: TestAccount
beforeEach(async () => {
  account = await server.account()
})

const numbers = (count: number, first = 0) =>
  Array.from({ length: count }, (_, index) => String(34_600_200_000 + first + index))
const add = (to: string | undefined) => account.post('/api/v1/suppression/add', { to })
const importAll = (recipients: string[]) => account.post('/api/v1/suppression/import', { recipients })

async function countListed(): Promise<number> {
  return (await account.trpc.suppression.list.query({})).items.length
}

/** Lets the server count the list again. */
async function letPass(): Promise<void> {
  await sql`
    update suppression_usage set counted_at = counted_at - interval '2 hours'
    where account_id = ${account.accountId}`.execute(server.deps.db)
}

test('rejects new recipients beyond the quota, and no recipient who is on the list', async () => {
  expect((await importAll(numbers(4))).json().data).toEqual({ added: 4, alreadySuppressed: 0 })

  const tooMany = await importAll(numbers(3, 3))

  expect(tooMany.statusCode).toBe(422)
  expect(tooMany.json().error).toEqual({
    code: 'SUPPRESSION_QUOTA_EXCEEDED',
    message: expect.stringMatching(/quota of 5 recipients \(WAYBILL_SUPPRESSION_QUOTA\)\. Nothing was added\./),
  })
  expect(await countListed()).toBe(4)
  expect((await add(numbers(1, 4)[0])).statusCode).toBe(200)
  expect((await add(numbers(1, 5)[0])).json().error.code).toBe('SUPPRESSION_QUOTA_EXCEEDED')
  expect((await importAll(numbers(5))).json().data).toEqual({ added: 0, alreadySuppressed: 5 })
})

test('makes room for another recipient when one is removed', async () => {
  await importAll(numbers(quota))
  expect((await add(numbers(1, 7)[0])).statusCode).toBe(422)

  await account.post('/api/v1/suppression/remove', { to: numbers(1)[0] })

  expect((await add(numbers(1, 7)[0])).statusCode).toBe(200)
  expect((await add(numbers(1, 8)[0])).statusCode).toBe(422)
})

test('keeps nothing of recipients whom only users added and removed', async () => {
  await importAll(numbers(quota))
  await importAll(numbers(quota))
  await add(numbers(1)[0])

  for (const to of numbers(quota)) await account.post('/api/v1/suppression/remove', { to })

  const { rows } = await sql`select from suppressions where account_id = ${account.accountId}`.execute(server.deps.db)
  expect(rows).toEqual([])
})

test('stores opt-outs of recipients beyond the quota, and counts them', async () => {
  const { waMessageId } = await sendOne(account)
  await importAll(numbers(quota))

  const reply = userMessage(text('STOP'), waMessageId)
  expect((await post(server, repliesCallback(account.phoneNumberId, [reply]))).statusCode).toBe(200)

  expect(await countListed()).toBe(quota + 1)
  await account.post('/api/v1/suppression/remove', { to: numbers(1)[0] })
  await letPass()
  expect((await add(numbers(1, 7)[0])).statusCode).toBe(422)
})

test('holds the quota while several processes add recipients at the same time', async () => {
  await add(numbers(1)[0])
  const adding = Array.from({ length: 12 }, (_, index) =>
    fetch(`${(index % 2 === 0 ? server : other).url}/api/v1/suppression/import`, {
      method: 'POST',
      headers: { 'x-api-key': account.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ recipients: numbers(1, 100 + index) }),
    }),
  )

  const responses = await Promise.all(adding)

  expect(responses.filter(({ status }) => status === 200)).toHaveLength(quota - 1)
  expect(await countListed()).toBe(quota)
})

/** Makes the database reject entries of this number, as after a lock timeout. */
async function failEntriesOf(number: string | undefined): Promise<() => Promise<void>> {
  await sql`
    create function fail_entry() returns trigger language plpgsql as $$
    begin raise exception 'canceling statement due to lock timeout' using errcode = '55P03'; end $$`.execute(
    server.deps.db,
  )
  await sql`
    create trigger fail_entry before insert on suppressions for each row
    when (new.to_number = ${sql.lit(number)}) execute function fail_entry()`.execute(server.deps.db)
  return async () => void (await sql`drop function fail_entry cascade`.execute(server.deps.db))
}

test.each([
  { kind: 'an import', fail: (to: string[]) => importAll(to) },
  { kind: 'an addition', fail: (to: string[]) => add(to.at(-1)) },
])('gives back the room of $kind that fails', async ({ fail }) => {
  await add(numbers(1)[0])
  const last = numbers(quota).at(-1)
  const repair = await failEntriesOf(last)
  try {
    for (let attempt = 0; attempt < quota; attempt++) expect((await fail(numbers(quota))).statusCode).toBe(503)
  } finally {
    await repair()
  }

  // At most one line a second is logged.
  const logged = server.log.filter((line) => line.includes('55P03')).join('')
  expect(logged).toContain('"msg":"a request waited too long for a lock of the database"')
  expect(logged).not.toContain('the database is unavailable')
  expect((await importAll(numbers(quota))).json().data).toEqual({ added: quota - 1, alreadySuppressed: 1 })
  expect((await add(numbers(1, 9)[0])).statusCode).toBe(422)
})
