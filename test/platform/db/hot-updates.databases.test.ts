import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { applyStatuses } from '../../../src/messages/status/apply-statuses.ts'
import { openTestDatabase, type TestDatabase } from '../../support/database.ts'
import { exampleSend } from '../../support/example-send.ts'
import { startTestServer, type TestAccount, type TestServer } from '../../support/server.ts'

let server: TestServer
let account: TestAccount
beforeAll(async () => {
  server = await startTestServer()
  account = await server.account()
})
afterAll(async () => {
  await server?.close()
})

async function send(): Promise<{ messageId: string; waMessageId: string }> {
  return account.trpc.message.send.mutate(exampleSend)
}

/** A status without Waybill's message ID. */
function reportByWamid(waMessageId: string, status: 'delivered' | 'read') {
  const report = { waMessageId, status, at: new Date(), error: undefined }
  return applyStatuses(server.deps, [{ accountId: account.accountId, messageId: undefined, waMessageId, report }])
}

test('changes no indexed column when a status arrives', async () => {
  const { rows } = await sql<{ column: string }>`
    select distinct attname as column from pg_depend
    join pg_index on indexrelid = objid and indrelid = 'messages'::regclass
    join pg_attribute on attrelid = refobjid and attnum = refobjsubid
    where classid = 'pg_class'::regclass and refclassid = 'pg_class'::regclass and refobjid = 'messages'::regclass
    union
    select distinct attname from pg_index join pg_attribute on attrelid = indrelid and attnum = any (indkey)
    where indrelid = 'messages'::regclass`.execute(server.deps.db)

  expect(rows.map(({ column }) => column).toSorted()).toEqual([
    'account_id',
    'external_id',
    'id',
    'recorded_at',
    'to_number',
  ])
})

test('finds a message by a wamid that was first reported in a status', async () => {
  const { messageId, waMessageId } = await send()
  const { db } = server.deps
  await db.updateTable('messages').set({ status: 'pending', wa_message_id: null, sent_at: null }).execute()
  await sql`delete from wa_message_ids`.execute(db)
  const report = { waMessageId, status: 'sent', at: new Date(), error: undefined } as const
  await applyStatuses(server.deps, [{ accountId: account.accountId, messageId, waMessageId, report }])

  expect(await reportByWamid(waMessageId, 'delivered')).toMatchObject({ applied: 1 })
  expect(await reportByWamid(`${waMessageId}x`, 'delivered')).toMatchObject({ unknown: 1 })
})

let database: TestDatabase
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.close())

const growing = ['messages', 'wa_message_ids', 'events', 'webhook_finished_deliveries', 'webhook_attempts']

test('sorts no index of a growing table by a locale, which the operating system may change', async () => {
  const { rows } = await sql<{ index: string; collation: string }>`
    select distinct indexrelid::regclass::text as index, collname as collation
    from pg_index
    cross join unnest(indcollation) as used
    join pg_collation c on c.oid = used
    where indrelid::regclass::text = any (${growing}) and collname <> 'C'`.execute(database.db)

  expect(rows).toEqual([])
})

test('indexes by account only in the primary key, and where few rows are indexed', async () => {
  const { rows } = await sql<{ index: string }>`
    select indexrelid::regclass::text as index
    from pg_index join pg_attribute on attrelid = indrelid and attnum = indkey[0]
    where indrelid::regclass::text = any (${growing}) and attname = 'account_id' and not indisprimary
      and indpred is null`.execute(database.db)

  expect(rows).toEqual([])
})
