import { randomBytes } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { startClockWatch } from '../../src/background/clock-watch.ts'
import { consumeAttempt } from '../../src/messages/codes/store.ts'
import { recordStalePending } from '../../src/messages/status/stale-pending.ts'
import { countAttempt } from '../../src/users/sign-in/login-throttle.ts'
import { openTestDatabase } from '../support/database.ts'
import { forFile, forTest } from '../support/lifetime.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { shiftClock, withSettableClock } from '../support/settable-clock.ts'
import { accept, respond, startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'
import { startTestWebhooks } from '../support/webhooks.ts'

const hour = 3600
/** Longer than a slow machine takes between two statements, and much less than the hour of a jump. */
const margin = 600
let receiver: WebhookReceiver
const nodes: { registry: Registry; logged: string[]; check(): Promise<void>; stop(): Promise<void> }[] = []
const database = await forFile(openTestDatabase().then(withSettableClock))
// An attempt that a test holds must not time out and be repeated, however slow the machine is.
const webhooks = await forFile(startTestWebhooks(database))
/** Each test has a receiver of its own: an attempt that is aborted at the end of a test can still arrive in the next one. */
beforeEach(async () => {
  receiver = await forTest(startWebhookReceiver())
})
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop()))
  await webhooks.reset()
})

interface NodeOptions {
  /** Treats the current time as correct, even if earlier tests changed the clock. */
  trustsClock?: boolean
}

/** The longest interval of a timer: a node checks the clock only when a test or a claim asks for it. */
const neverMilliseconds = 2 ** 31 - 1

/** Starts the clock watch of a node. */
async function startNode({ trustsClock = true }: NodeOptions = {}): Promise<void> {
  const logged: string[] = []
  const log = pino({ level: 'warn' }, { write: (line) => void logged.push(line) })
  const registry = new Registry()
  if (trustsClock)
    await sql`update database_clock set highest = clock_timestamp() - interval '2 seconds'`.execute(database.db)
  const { notifications } = webhooks.deps
  const watch = await startClockWatch({ db: database.db, log, notifications }, registry, neverMilliseconds)
  nodes.push({ registry, logged, ...watch })
  await expect
    .poll(async () => {
      await watch.check()
      const { rows } = await sql<{ past: number }>`
        select extract(epoch from clock_timestamp() - highest)::float8 as past from database_clock`.execute(database.db)
      return rows[0]?.past
    })
    .toBeLessThan(1)
}

/** Starts the clock watch of a node that ends before it checks the clock again. */
async function killNodeAfterStart(): Promise<void> {
  const { deps } = webhooks
  const watch = await startClockWatch(
    { db: database.db, log: pino({ level: 'silent' }), notifications: deps.notifications },
    new Registry(),
  )
  await watch.stop()
}

/** Lets the nodes check alternately. */
function checking<T>(read: () => T | Promise<T>): () => Promise<T> {
  let turn = 0
  return async () => {
    await nodes[turn++ % nodes.length]?.check()
    return read()
  }
}

/** Clock jumps that the nodes have counted in total. */
async function countJumps(direction: 'back' | 'forward'): Promise<number> {
  const metrics = await Promise.all(
    nodes.map(async ({ registry }) => registry.getSingleMetric('waybill_database_clock_jumps_total')?.get()),
  )
  return metrics
    .flatMap((metric) => metric?.values ?? [])
    .filter(({ labels }) => labels['direction'] === direction)
    .reduce((sum, { value }) => sum + value, 0)
}

function logged(): { level: number; seconds: number; msg: string }[] {
  return nodes.flatMap((node) => node.logged.map((line) => JSON.parse(line)))
}

test('delivers within seconds after the clock was set back by an hour, and reports the jump once', async () => {
  await webhooks.addEndpoint(receiver.url)
  await startNode()
  await startNode()
  const eventIds = await webhooks.emit(10)

  await shiftClock(database.db, -hour)
  webhooks.startWorker()

  await expect.poll(checking(async () => (await webhooks.finished()).length)).toBe(10)
  expect([...new Set(receiver.received.map(({ id }) => id))].toSorted()).toEqual(eventIds.toSorted())
  expect(await countJumps('back')).toBe(1)
  expect(await countJumps('forward')).toBe(0)
  const [line, ...others] = logged()
  expect(others).toEqual([])
  expect(line).toMatchObject({ level: 40, msg: expect.stringContaining('set back') as string })
  expect(Math.abs((line?.seconds ?? 0) - hour)).toBeLessThan(margin)
})

test('delivers events stored right after the start of a node whose clock was ahead', async () => {
  await webhooks.addEndpoint(receiver.url)
  await startNode()
  await shiftClock(database.db, hour)
  await killNodeAfterStart()
  const [eventId] = await webhooks.emit()
  await shiftClock(database.db, -hour)

  await startNode({ trustsClock: false })
  webhooks.startWorker()

  await expect.poll(() => receiver.received.map(({ id }) => id)).toEqual([eventId])
  expect(await countJumps('back')).toBe(1)
})

test('detects a clock jump immediately from the time that a claim returns', async () => {
  await webhooks.addEndpoint(receiver.url)
  await startNode()
  webhooks.startWorker()
  await webhooks.emit()
  await expect.poll(() => receiver.received.length).toBe(1)

  await shiftClock(database.db, hour)
  await webhooks.emit()

  await expect.poll(() => countJumps('forward')).toBe(1)
  await shiftClock(database.db, -hour)
  await webhooks.emit()
  await expect.poll(checking(() => countJumps('back'))).toBe(1)
})

test('keeps the remaining delay of a retry when the clock is set back', async () => {
  await webhooks.addEndpoint(receiver.url)
  await webhooks.emit()
  await sql`update webhook_deliveries set due_at = now() + interval '2 hours', attempts = 3, generation = 3`.execute(
    database.db,
  )
  await startNode()

  await shiftClock(database.db, -hour)

  await expect.poll(checking(() => countJumps('back'))).toBe(1)
  const [delivery] = await webhooks.deliveries()
  expect(delivery?.dueInSeconds).toBeLessThan(2 * hour + margin)
  expect(delivery?.dueInSeconds).toBeGreaterThan(2 * hour - margin)
})

test('neither loses nor repeats attempts in progress when the clock is set back', async () => {
  await webhooks.addEndpoint(receiver.url)
  const release: (() => void)[] = []
  receiver.behave((_received, response) => void release.push(() => response.end()))
  await startNode()
  const [before = ''] = await webhooks.emit()
  webhooks.startWorker()
  await expect.poll(() => release.length).toBe(1)

  await shiftClock(database.db, -hour)
  // Claimed before a node noticed the jump.
  const [after = ''] = await webhooks.emit()
  await expect.poll(() => release.length).toBe(2)
  for (const end of release) end()

  await expect.poll(async () => (await webhooks.finished()).length).toBe(2)
  await expect.poll(checking(() => countJumps('back'))).toBe(1)
  expect(receiver.received.map(({ id }) => id)).toEqual([before, after])
  expect(await webhooks.deliveries()).toEqual([])
})

test('keeps a lease that was granted before a clock jump was detected', async () => {
  await webhooks.addEndpoint(receiver.url)
  await webhooks.emit()
  await startNode()
  await shiftClock(database.db, -hour)
  await sql`update webhook_deliveries set due_at = now() + interval '170 seconds', generation = 1, claimed = true`.execute(
    database.db,
  )

  await expect.poll(checking(() => countJumps('back'))).toBe(1)

  const [delivery] = await webhooks.deliveries()
  expect(delivery?.dueInSeconds).toBeGreaterThan(0)
})

test('delivers to an endpoint with a rate limit after the clock was set back', async () => {
  await webhooks.addEndpoint(receiver.url, { maxPerSecond: 100 })
  await sql`update webhook_endpoints set paced_until = now()`.execute(database.db)

  await shiftClock(database.db, -hour)
  await webhooks.emit()
  webhooks.startWorker()

  await expect.poll(() => receiver.received.length).toBe(1)
})

test('sends emails and chat posts that were due before the clock was set back', async () => {
  const { accountId, deps } = webhooks
  await startNode()
  // Due for longer than a slow machine takes between the last check of the clock and this statement.
  const due = [60, hour - 170].map((seconds) => ({ due_at: sql<Date>`now() - make_interval(secs => ${seconds})` }))
  const rows = due.map((time) => ({
    ...time,
    account_id: accountId,
    content_encrypted: 'x',
    expires_at: sql<Date>`now() + interval '1 day'`,
  }))
  const emails = rows.map((row) => ({ ...row, id: deps.newId('eml'), kind: 'alert', recipient: 'ada@example.com' }))
  await database.db.insertInto('emails').values(emails).execute()
  await database.db
    .insertInto('chat_posts')
    .values(rows.map((row) => ({ ...row, id: deps.newId('cht') })))
    .execute()

  await shiftClock(database.db, -hour)
  await expect.poll(checking(() => countJumps('back'))).toBe(1)

  for (const table of ['emails', 'chat_posts'] as const) {
    // What is due within three minutes may be in progress: then it is due at the end of its lease.
    const { rows: waiting } = await sql<{ isDue: boolean }>`
      select due_at <= now() as "isDue" from ${sql.table(table)} order by due_at`.execute(database.db)
    expect(waiting).toEqual([{ isDue: true }, { isDue: false }])
    await database.db.deleteFrom(table).execute()
  }
})

test('counts a forward jump once and retries failed attempts', async () => {
  await webhooks.addEndpoint(receiver.url)
  receiver.behave(respond(500))
  await startNode()
  await startNode()
  await webhooks.emit(3)
  const worker = webhooks.startWorker()
  await expect.poll(() => receiver.received.length).toBeGreaterThan(3)
  // Two nodes that check at the same moment both count the jump, and a claim lets one of them check.
  await worker.stop({ graceMilliseconds: 0 })

  await shiftClock(database.db, hour)
  receiver.behave(accept)
  for (const node of nodes) await node.check()

  expect(await countJumps('forward')).toBe(1)
  expect(await countJumps('back')).toBe(0)
  expect(logged()).toMatchObject([{ level: 40, msg: expect.stringContaining('set forward') as string }])
  webhooks.startWorker()
  await expect.poll(async () => (await webhooks.finished()).length).toBe(3)
  await shiftClock(database.db, -hour)
})

test.runIf(inject('database').kind === 'postgres')(
  'counts a forward jump once if two nodes check the clock at the same time',
  async () => {
    const { db } = database
    await startNode()
    await startNode()

    const checks = await db.transaction().execute(async (trx) => {
      await sql`select from database_clock for update`.execute(trx)
      await shiftClock(db, hour)
      const both = nodes.map(({ check }) => check())
      await expect.poll(() => lockWaits(db, '%database_clock%')).toHaveLength(2)
      return both
    })

    await Promise.all(checks)
    expect(await countJumps('forward')).toBe(1)
    await shiftClock(db, -hour)
  },
)

async function addNumber(id: string, times: Record<string, RawBuilder<Date>>): Promise<void> {
  const { db } = database
  await db.insertInto('accounts').values({ id, name: 'Clock' }).execute()
  const number = { phone_number_id: id, waba_id: id, access_token_encrypted: 'x', is_default: true }
  await db
    .insertInto('whatsapp_accounts')
    .values({ id, account_id: id, ...number })
    .execute()
  await db
    .insertInto('whatsapp_account_health')
    .values({ whatsapp_account_id: id, account_id: id, ...times })
    .execute()
}

test('keeps the due times of checks of WhatsApp accounts, and deletes callback times that are ahead', async () => {
  await startNode()
  await addNumber('wa_clock', {
    next_check_at: sql<Date>`now() + interval '30 minutes'`,
    next_traffic_at: sql<Date>`now() + interval '1 minute'`,
    last_status_at: sql<Date>`now()`,
  })

  await shiftClock(database.db, -hour)
  await expect.poll(checking(() => countJumps('back'))).toBe(1)

  const { rows } = await sql<{ check: number; traffic: number; status: number }>`
    select extract(epoch from next_check_at - now())::float8 as check,
      extract(epoch from next_traffic_at - now())::float8 as traffic,
      extract(epoch from last_status_at - now())::float8 as status
    from whatsapp_account_health where whatsapp_account_id = 'wa_clock'`.execute(database.db)
  expect(rows[0]?.check).toBeLessThan(hour / 2 + margin)
  expect(rows[0]?.check).toBeGreaterThan(hour / 2 - margin)
  expect(rows[0]?.traffic).toBeLessThan(margin)
  expect(rows[0]?.status).toBeLessThanOrEqual(0)
})

test('keeps the due time of a token refresh if no other time of the WhatsApp account is ahead', async () => {
  await startNode()
  await addNumber('wa_refresh', {
    next_check_at: sql<Date>`now() - interval '2 hours'`,
    next_traffic_at: sql<Date>`now() - interval '2 hours'`,
    token_refresh_due_at: sql<Date>`now() + interval '30 minutes'`,
  })

  await shiftClock(database.db, -hour)
  await expect.poll(checking(() => countJumps('back'))).toBe(1)

  const { rows } = await sql<{ refresh: number }>`
    select extract(epoch from token_refresh_due_at - now())::float8 as refresh
    from whatsapp_account_health where whatsapp_account_id = 'wa_refresh'`.execute(database.db)
  expect(rows[0]?.refresh).toBeLessThan(hour / 2 + margin)
  expect(rows[0]?.refresh).toBeGreaterThan(hour / 2 - margin)
})

test('detects stale pending messages that were recorded after the clock was set back', async () => {
  await recordStalePending(database.db)
  await startNode()
  await shiftClock(database.db, -hour)
  const id = webhooks.deps.newId('msg')
  await sql`
    insert into messages (account_id, id, whatsapp_account_id, status, to_number, template_name, template_language,
      created_at)
    values (${webhooks.accountId}, ${id}, 'wa_1', 'pending', '34600111222', 't', 'en', now())`.execute(database.db)
  await expect.poll(checking(() => countJumps('back'))).toBe(1)

  await shiftClock(database.db, 120)
  await recordStalePending(database.db)

  const recorded = await database.db.selectFrom('overdue_messages').select('id').execute()
  expect(recorded).toEqual([{ id }])
})

test('makes a code that is sent after the clock was set back the latest one', async () => {
  const { accountId } = webhooks
  const insert = (id: string) =>
    sql`
    insert into one_time_codes (account_id, id, to_number, purpose, mac, attempts_left, created_at, expires_at)
    values (${accountId}, ${id}, '34600111222', '', '', 5, now(), now() + interval '10 minutes')`.execute(database.db)
  await insert('code_before')
  await startNode()
  await shiftClock(database.db, -hour)
  await expect.poll(checking(() => countJumps('back'))).toBe(1)
  await shiftClock(database.db, 1)
  await insert('code_after')

  const attempt = await consumeAttempt(database.db, { accountId, to: '34600111222', purpose: '' })

  expect(attempt?.id).toBe('code_after')
})

test('does not extend a login lockout when the clock is set back', async () => {
  const attempt = { key: randomBytes(32), seconds: hour }
  await countAttempt(database.db, attempt)
  await startNode()

  await shiftClock(database.db, -hour)

  await expect
    .poll(checking(async () => (await countAttempt(database.db, attempt)).secondsLeft))
    .toBeLessThan(hour + margin)
})

test('keeps event IDs increasing after a failover to a standby that lacks recent events', async () => {
  const { db, accountId } = { db: database.db, accountId: webhooks.accountId }
  await sql`
    insert into event_clocks (account_id, last_milliseconds)
    values (${accountId}, floor(extract(epoch from clock_timestamp()) * 1000)::bigint)`.execute(db)
  const last = async () => {
    const row = await db.selectFrom('event_clocks').select('last_milliseconds').executeTakeFirstOrThrow()
    return Number(row.last_milliseconds)
  }
  const before = await last()
  await startNode()

  await shiftClock(db, -hour)

  await expect.poll(checking(last)).toBeGreaterThanOrEqual(before + 60_000)
})
