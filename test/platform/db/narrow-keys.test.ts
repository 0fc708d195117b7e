import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendMessage } from '../../../contracts/api/message.ts'
import { migrate } from '../../../src/platform/db/migrate.ts'
import { undoNarrowKeys } from '../../support/earlier-schema.ts'
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

const growing = ['messages', 'wa_message_ids', 'events', 'webhook_finished_deliveries', 'webhook_attempts']

test('sorts no index of a growing table by a locale, which the operating system may change', async () => {
  const { rows } = await sql<{ index: string; collation: string }>`
    select distinct indexrelid::regclass::text as index, collname as collation
    from pg_index
    cross join unnest(indcollation) as used
    join pg_collation c on c.oid = used
    where indrelid::regclass::text = any (${growing}) and collname <> 'C'`.execute(server.deps.db)

  expect(rows).toEqual([])
})

test('indexes by account only in the primary key', async () => {
  const { rows } = await sql<{ index: string }>`
    select indexrelid::regclass::text as index
    from pg_index join pg_attribute on attrelid = indrelid and attnum = indkey[0]
    where indrelid::regclass::text = any (${growing}) and attname = 'account_id' and not indisprimary`.execute(
    server.deps.db,
  )

  expect(rows).toEqual([])
})

test('keeps messages with any external ID during migration', async () => {
  const { messageId } = await account.trpc.message.send.mutate({
    ...sendMessage.example.input,
    externalId: 'Größe "L", \\',
  })
  for (const statement of undoNarrowKeys) await sql.raw(statement).execute(server.deps.db)

  expect(await migrate(server.deps.db)).toContain('0007-narrow-keys')

  const listed = await account.trpc.message.list.query({
    externalId: 'Größe "L", \\',
    to: sendMessage.example.input.to,
  })
  expect(listed.items).toMatchObject([{ messageId, externalId: 'Größe "L", \\' }])
})
