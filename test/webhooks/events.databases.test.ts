import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { createAccount } from '../../src/accounts/account.ts'
import { applyStatuses } from '../../src/messages/status/apply-statuses.ts'
import { readDatabaseClock } from '../../src/platform/db/clock.ts'
import { listEvents, recordEvents, type UnrecordedEvent } from '../../src/webhooks/events.ts'
import { createTestDeps } from '../support/deps.ts'
import { openTestDatabase } from '../support/database.ts'
import { forFile } from '../support/lifetime.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { shiftClock, withSettableClock } from '../support/settable-clock.ts'

const database = await forFile(openTestDatabase().then(withSettableClock))
const deps = createTestDeps(database)
let accountId: string
beforeEach(async () => {
  accountId = (await createAccount(deps, { name: 'Events' })).accountId
})

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
  return applyStatuses(deps, [{ accountId, messageId, waMessageId, report }])
}

/** Creates a reader that continues after the last event it received. */
function createReader(): () => Promise<string[]> {
  const seen: { eventId: string; messageId: string }[] = []
  return async () => {
    const { items } = await listEvents(deps, { accountId }, { limit: 100, cursor: seen.at(-1)?.eventId })
    seen.push(...items.map(({ eventId, event }) => ({ eventId, messageId: event.data.messageId })))
    return seen.map(({ messageId }) => messageId)
  }
}

test('does not skip an event that was recorded while a reader received later ones', async (context) => {
  if (database.url === undefined) return context.skip('PGlite has one connection')
  const [held, free] = [await recordMessage(), await recordMessage()]
  const read = createReader()

  let waiting: Promise<unknown> = Promise.resolve()
  await deps.db.transaction().execute(async (holder) => {
    await sql`select 1 from messages where account_id = ${accountId} and id = ${held} for update`.execute(holder)
    waiting = deliver(held)
    await expect.poll(() => lockWaits(deps.db)).not.toEqual([])
    await deliver(free)
    expect(await read()).toEqual([free])
  })
  await waiting

  expect(await read()).toEqual([free, held])
})

test('lists no event while an earlier one of its account is still being recorded', async (context) => {
  if (database.url === undefined) return context.skip('PGlite has one connection')
  const later = await recordMessage()
  const read = createReader()

  let waiting: Promise<unknown> = Promise.resolve()
  await deps.db.transaction().execute(async (trx) => {
    await recordEvents(deps, trx, [newEvent('msg_slow')])
    waiting = deliver(later)
    await expect.poll(() => lockWaits(deps.db)).not.toEqual([])
    expect(await read()).toEqual([])
  })
  await waiting

  expect(await read()).toEqual(['msg_slow', later])
})

test('lists events of other accounts while an event is being recorded', async (context) => {
  if (database.url === undefined) return context.skip('PGlite has one connection')
  const messageId = await recordMessage()
  const other = await createAccount(deps, { name: 'Slow' })

  await deps.db.transaction().execute(async (trx) => {
    await recordEvents(deps, trx, [{ ...newEvent('msg_slow'), accountId: other.accountId }])
    await deliver(messageId)
    expect(await createReader()()).toEqual([messageId])
  })
})

function newEvent(messageId: string): UnrecordedEvent {
  const payload = JSON.stringify({
    type: 'message.delivered',
    timestamp: new Date().toISOString(),
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
  return { accountId, type: 'message.delivered', subjectId: messageId, payload }
}

test('lists an event immediately', async () => {
  const messageId = await recordMessage()
  const read = createReader()

  await deliver(messageId)

  expect(await read()).toEqual([messageId])
})

test('lists events of one callback in order, even if they exceed the IDs of a millisecond', async () => {
  const names = Array.from({ length: 5_000 }, (_, index) => `msg_${index}`)
  await deps.db.transaction().execute((trx) => recordEvents(deps, trx, names.map(newEvent)))
  await deps.db.transaction().execute((trx) => recordEvents(deps, trx, [newEvent('msg_last')]))

  const read = createReader()
  await expect.poll(read).toEqual([...names, 'msg_last'])
})

test.each([3600, -3600])('neither hides nor repeats an event when the clock jumps by %i seconds', async (seconds) => {
  const read = createReader()
  const recorded: string[] = []
  const record = async () => {
    const messageId = await recordMessage()
    await deliver(messageId)
    recorded.push(messageId)
    expect(await read()).toEqual(recorded)
  }
  for (let count = 0; count < 3; count++) await record()

  await shiftClock(deps.db, seconds)
  for (let count = 0; count < 3; count++) await record()
  await shiftClock(deps.db, -seconds)
  for (let count = 0; count < 3; count++) await record()
})

test('filters by recording time, even after the clock was set back', async () => {
  const listed = async (filter: { from?: Date; until?: Date }) => {
    const [from, until] = [filter.from?.toISOString(), filter.until?.toISOString()]
    const { items } = await listEvents(deps, { accountId }, { limit: 100, from, until })
    return items.map(({ event }) => event.data.messageId)
  }
  const [before, after] = [await recordMessage(), await recordMessage()]
  await deliver(before)
  await shiftClock(deps.db, -3600)
  const setBackAt = await readDatabaseClock(deps.db)
  await deliver(after)
  const now = new Date((await readDatabaseClock(deps.db)).getTime() + 1)

  expect(await listed({ from: setBackAt })).toEqual([before, after])
  expect(await listed({ from: now })).toEqual([before])
  expect(await listed({ until: now })).toEqual([after])
  expect(await listed({ from: setBackAt, until: now })).toEqual([after])
  expect(await listed({ until: setBackAt })).toEqual([])
  await shiftClock(deps.db, 3600)
})

test('continues after a cursor whose event was deleted', async () => {
  const [first, second] = [await recordMessage(), await recordMessage()]
  await deliver(first)
  await deliver(second)
  const { items } = await listEvents(deps, { accountId }, { limit: 1 })
  const cursor = items[0]?.eventId ?? ''
  await deps.db.deleteFrom('events').where('id', '=', cursor).execute()

  const page = await listEvents(deps, { accountId }, { limit: 100, cursor })

  expect(page.items.map(({ event }) => event.data.messageId)).toEqual([second])
})

test('lists an event of a later version, which runs beside this one, as it was recorded', async () => {
  const payload = JSON.stringify({ type: 'message.pinned', timestamp: '2026-11-25T10:00:00.000Z', data: { pin: 1 } })
  await recordEvents(deps, deps.db, [{ accountId, type: 'message.pinned', subjectId: await recordMessage(), payload }])

  const { items } = await listEvents(deps, { accountId }, { limit: 100 })

  expect(items.map(({ event }) => event)).toEqual([JSON.parse(payload)])
})

test('lists each event once in ID order during concurrent writes and a clock jump', async () => {
  const messageIds = await Promise.all(Array.from({ length: 120 }, recordMessage))
  const read = createReader()
  const writers = { ended: false }
  const writing = (async () => {
    for (let start = 0; start < messageIds.length; start += 6) {
      if (start === 60) await shiftClock(deps.db, -3600)
      await Promise.all(messageIds.slice(start, start + 6).map(deliver))
    }
  })().finally(() => (writers.ended = true))

  let seen = await read()
  while (!writers.ended) {
    seen = await read()
    // Lets PGlite run, which works in this process.
    await setImmediate()
  }
  await writing
  seen = await read()

  expect(seen).toHaveLength(messageIds.length)
  expect(new Set(seen)).toEqual(new Set(messageIds))
  await shiftClock(deps.db, 3600)
})
