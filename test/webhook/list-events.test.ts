import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createAccount } from '../../src/account/create-account.ts'
import { readDatabaseClock } from '../../src/db/database-clock.ts'
import type { Deps } from '../../src/deps.ts'
import { encodeId } from '../../src/ids.ts'
import { takeStatuses } from '../../src/message/take-statuses.ts'
import { insertEvents, startRecording, type NewEvent } from '../../src/webhook/event-store.ts'
import { listEvents } from '../../src/webhook/list-events.ts'
import { createTestDeps } from '../account/deps.ts'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'

let database: TestDatabase
let deps: Deps
let accountId: string
beforeAll(async () => {
  database = await openTestDatabase()
  deps = createTestDeps(database)
})
beforeEach(async () => {
  accountId = (await createAccount(deps, { name: 'Events' })).accountId
})
afterAll(() => database.close())

async function recordMessage(): Promise<string> {
  const id = deps.newId('msg')
  await sql`
    insert into messages (account_id, id, whatsapp_account_id, status, to_number, template_name, template_language,
      wa_message_id, created_at)
    values (${accountId}, ${id}, 'wa_1', 'sent', '34600111222', 't', 'en', ${`wamid.${id}`}, now())`.execute(deps.db)
  return id
}

function deliver(messageId: string): Promise<unknown> {
  const waMessageId = `wamid.${messageId}`
  const report = { waMessageId, status: 'delivered', at: new Date(), error: undefined } as const
  return takeStatuses(deps, [{ accountId, messageId, waMessageId, report }])
}

/** What a reader sees who goes on from the last event it has seen. */
function createReader(): () => Promise<string[]> {
  const seen: { eventId: string; messageId: string }[] = []
  return async () => {
    const { items } = await listEvents(deps, { accountId }, { limit: 100, cursor: seen.at(-1)?.eventId })
    seen.push(...items.map(({ eventId, event }) => ({ eventId, messageId: event.data.messageId })))
    return seen.map(({ messageId }) => messageId)
  }
}

/** Polls until so long after a time that its events are listed, unless something holds them back. */
async function waitUntilSettled(time: Date): Promise<void> {
  await expect
    .poll(async () => (await readDatabaseClock(deps.db)).getTime(), { timeout: 10_000 })
    .toBeGreaterThan(time.getTime() + 2_500)
}

test('an event that waited for its message is not missed by a reader who saw later ones', async (context) => {
  if (database.url === undefined) return context.skip('PGlite has one connection')
  const [held, free] = [await recordMessage(), await recordMessage()]
  const read = createReader()

  let waiting: Promise<unknown> = Promise.resolve()
  await deps.db.transaction().execute(async (holder) => {
    await sql`select 1 from messages where account_id = ${accountId} and id = ${held} for update`.execute(holder)
    waiting = deliver(held)
    await expect
      .poll(async () => {
        const { rows } = await sql`
          select 1 from pg_locks where not granted and pid <> pg_backend_pid()`.execute(deps.db)
        return rows.length
      })
      .toBeGreaterThan(0)
    await deliver(free)
    await expect.poll(read, { timeout: 10_000 }).toEqual([free])
  })
  await waiting

  await expect.poll(read, { timeout: 10_000 }).toEqual([free, held])
})

test('no event is listed while an earlier one is still being recorded', async (context) => {
  if (database.url === undefined) return context.skip('PGlite has one connection')
  const later = await recordMessage()
  const read = createReader()

  await deps.db.transaction().execute(async (trx) => {
    const now = await startRecording(trx)
    await insertEvents(trx, [newEvent('msg_slow', now)], () => deps.newId('dlv'))
    // Ids of one millisecond are in no order.
    await expect.poll(async () => (await readDatabaseClock(deps.db)) > now).toBe(true)
    await deliver(later)
    await waitUntilSettled(await readDatabaseClock(deps.db))
    expect(await read()).toEqual([])
  })

  expect(await read()).toEqual(['msg_slow', later])
})

function newEvent(messageId: string, createdAt: Date): NewEvent {
  const payload = JSON.stringify({
    type: 'message.delivered',
    timestamp: createdAt.toISOString(),
    data: {
      messageId,
      waMessageId: `wamid.${messageId}`,
      status: 'delivered',
      to: '34600111222',
      template: 't',
      language: 'en',
      accountId: 'wa_1',
    },
  })
  const id = encodeId('evt', createdAt.getTime(), deps.randomBytes(10))
  return { accountId, id, type: 'message.delivered', messageId, payload, createdAt }
}

test('an event is listed once it has settled', async () => {
  const messageId = await recordMessage()
  const read = createReader()

  await deliver(messageId)

  expect(await read()).toEqual([])
  await expect.poll(read, { timeout: 10_000 }).toEqual([messageId])
})
