import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { sendMessage } from '../../../contracts/api/message.ts'
import type { Overview } from '../../../contracts/dashboard/overview.ts'
import { type Count, deleteOldCounts, findCounts, foldCounts } from '../../../src/messages/queries/counts-store.ts'
import { lastDays, toPeriod } from '../../../src/messages/queries/periods.ts'
import { settleAccepted } from '../../../src/messages/send/settle-store.ts'
import { applyStatuses } from '../../../src/messages/status/apply-statuses.ts'
import { createPartitions, dropOldPartitions } from '../../../src/platform/db/partitions.ts'
import { encodeId } from '../../../src/platform/ids.ts'
import { adviseOnFailure } from '../../../src/whatsapp/failure-advice.ts'
import { report as reportStatuses, status } from '../../support/callbacks.ts'
import { signedInOwner } from '../../support/user.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer, type TestAccount } from '../../support/server.ts'

let account: TestAccount
/** The time of the server. */
let now: Date
/** The time at which the test began: midnight may pass meanwhile. */
let today: Date
const server = await forFile(startTestServer({ deps: { now: () => now } }))

beforeEach(async () => {
  today = new Date()
  now = today
  account = await server.account()
})

const day = 86_400_000
const dateOf = (time: Date) => time.toISOString().slice(0, 10)
const daysAgo = (days: number) => new Date(today.getTime() - days * day)

interface Sent {
  messageId: string
  waMessageId: string
}

async function send(to = sendMessage.example.input.to, fields: object = {}): Promise<Sent> {
  const response = await account.post('/api/v1/message/send', { ...sendMessage.example.input, to, ...fields })
  return response.json().data as unknown as Sent
}

interface Reported {
  of: Sent
  status: 'sent' | 'delivered' | 'read' | 'failed'
  at?: Date
  code?: number
}

/** Posts a signed callback. */
function report(...statuses: Reported[]): Promise<void> {
  const reports = statuses.map(({ of, status: name, at = now, code }) =>
    status(name, of.waMessageId, {
      at: Math.floor(at.getTime() / 1000),
      callbackData: of.messageId,
      ...(code !== undefined && { errors: [{ code, title: 'Failed' }] }),
    }),
  )
  return reportStatuses(server, account, reports)
}

/** Reads the overview like the dashboard. */
async function overview(accountId = account.accountId, days: 7 | 30 | 90 = 7): Promise<Overview> {
  const viewer = await signedInOwner(server, accountId, { role: 'viewer' })
  const { data } = await viewer.query<Overview>('overview.get', { accountId, days })
  return data
}

async function countsOf(date: Date): Promise<Overview['days'][number] | undefined> {
  return (await overview()).days.find((counts) => counts.date === dateOf(date))
}

async function countDeltas(): Promise<number> {
  const rows = await server.deps.db
    .selectFrom('message_count_deltas')
    .select('count')
    .where('account_id', '=', account.accountId)
    .execute()
  return rows.length
}

test('counts each message once per state on the day it was recorded', async () => {
  now = daysAgo(2)
  const [read, delivered] = [await send(), await send()]
  await send()
  await send('15550131026')
  now = daysAgo(1)
  const failed = await send()
  now = today
  await report({ of: read, status: 'delivered' }, { of: delivered, status: 'delivered' })
  await report({ of: read, status: 'read' }, { of: failed, status: 'failed', code: 131049 })

  const { days, totals, failures } = await overview()

  expect(days.slice(-3)).toEqual([
    { date: dateOf(daysAgo(2)), attempted: 4, accepted: 3, delivered: 2, read: 1, refused: 1, undelivered: 0 },
    { date: dateOf(daysAgo(1)), attempted: 1, accepted: 1, delivered: 0, read: 0, refused: 0, undelivered: 1 },
    { date: dateOf(now), attempted: 0, accepted: 0, delivered: 0, read: 0, refused: 0, undelivered: 0 },
  ])
  expect(totals).toEqual({ attempted: 5, accepted: 4, delivered: 2, read: 1, refused: 1, undelivered: 1 })
  expect(failures).toEqual([
    { code: '131026', ...adviseOnFailure({ code: '131026', message: '' }), refused: 1, undelivered: 0 },
    { code: '131049', ...adviseOnFailure({ code: '131049', message: '' }), refused: 0, undelivered: 1 },
  ])
})

test('counts a message that failed on one device but reached another as delivered', async () => {
  const message = await send()
  await report({ of: message, status: 'failed', code: 131026 })
  expect(await countsOf(now)).toMatchObject({ accepted: 1, delivered: 0, undelivered: 1 })

  await report({ of: message, status: 'delivered' })

  expect(await countsOf(now)).toMatchObject({ accepted: 1, delivered: 1, undelivered: 0 })
  expect((await overview()).failures).toEqual([])
})

test('counts repeated and reordered statuses once', async () => {
  const message = await send()
  await report({ of: message, status: 'read' }, { of: message, status: 'sent' }, { of: message, status: 'delivered' })
  await foldCounts(server.deps.db)
  await report({ of: message, status: 'delivered' }, { of: message, status: 'read' })
  await report({ of: message, status: 'failed', code: 131026 })

  expect(await countsOf(now)).toMatchObject({ accepted: 1, delivered: 1, read: 1, undelivered: 0 })
})

test.each([
  { seconds: 0, bar: { untilSeconds: 1 } },
  { seconds: 1, bar: { untilSeconds: 2 } },
  { seconds: 9, bar: { untilSeconds: 10 } },
  { seconds: 59, bar: { untilSeconds: 60 } },
  { seconds: 60, bar: { untilSeconds: 300 } },
  { seconds: 3_600, bar: { untilSeconds: 21_600 } },
  { seconds: 86_399, bar: { untilSeconds: 86_400 } },
  { seconds: 86_400, bar: {} },
])('counts a delivery after $seconds seconds in $bar', async ({ seconds, bar }) => {
  now = new Date(Math.floor(Date.now() / 1000) * 1000)
  const message = await send()
  await report({ of: message, status: 'delivered', at: new Date(now.getTime() + seconds * 1000) })
  await report({ of: message, status: 'read', at: new Date(now.getTime() + (seconds + 5) * 1000) })

  // The overview ends before the current moment, which may begin a quarter of an hour.
  now = new Date(now.getTime() + 1)
  const { timeToDelivered } = await overview()

  expect(timeToDelivered.filter(({ count }) => count !== 0)).toEqual([{ ...bar, count: 1 }])
  expect(timeToDelivered).toHaveLength(12)
})

test('shows the same counts after folding', async () => {
  const messages = await Promise.all(Array.from({ length: 12 }, () => send()))
  await report(...messages.slice(0, 8).map((of) => ({ of, status: 'delivered' as const })))
  await foldCounts(server.deps.db)
  await report(...messages.slice(4).map((of) => ({ of, status: 'read' as const })))
  await report({ of: await send(), status: 'failed', code: 131026 })
  const before = await overview()
  expect(await countDeltas()).toBeGreaterThan(0)

  await foldCounts(server.deps.db)

  expect(await countDeltas()).toBe(0)
  expect(await overview()).toEqual(before)
  expect(before.days.at(-1)).toMatchObject({ accepted: 13, delivered: 12, read: 8, undelivered: 1 })
})

test('counts each change once during concurrent folds and updates', async () => {
  const messages = await Promise.all(Array.from({ length: 30 }, () => send()))

  await Promise.all([
    ...messages.map((of) => report({ of, status: 'delivered' })),
    ...Array.from({ length: 8 }, () => foldCounts(server.deps.db, { batchSize: 3 })),
    ...messages.map((of) => report({ of, status: 'read' })),
    ...Array.from({ length: 8 }, () => foldCounts(server.deps.db, { batchSize: 3 })),
  ])

  expect(await countsOf(now)).toMatchObject({ accepted: 30, delivered: 30, read: 30, undelivered: 0 })
  await foldCounts(server.deps.db, { batchSize: 3 })
  expect(await countDeltas()).toBe(0)
  expect(await countsOf(now)).toMatchObject({ accepted: 30, delivered: 30, read: 30, undelivered: 0 })
})

test('counts a status that arrives before the response to the send once', async () => {
  const message = {
    id: server.deps.newId('msg'),
    accountId: account.accountId,
    whatsAppAccountId: account.whatsAppAccountId,
    to: sendMessage.example.input.to ?? '',
    template: 'order_shipped',
    language: 'en',
    externalId: null,
    createdAt: now,
    emitSentEvent: false,
  }
  await sql`
    insert into messages (account_id, id, whatsapp_account_id, status, to_number, template_name, template_language, created_at)
    values (${message.accountId}, ${message.id}, 'wa_1', 'pending', '34600111222', 't', 'en', ${now})`.execute(
    server.deps.db,
  )
  const waMessageId = 'wamid.OVERTAKEN'
  const status = { waMessageId, status: 'delivered' as const, at: new Date(now.getTime() + 7_000), error: undefined }
  await applyStatuses(server.deps, [
    { accountId: account.accountId, messageId: message.id, waMessageId, report: status },
  ])
  expect(await countsOf(now)).toMatchObject({ accepted: 1, delivered: 1 })

  await settleAccepted(server.deps.db, { message, waMessageId, sentAt: now })

  expect(await countsOf(now)).toMatchObject({ accepted: 1, delivered: 1 })
  const { timeToDelivered } = await overview()
  expect(timeToDelivered.filter(({ count }) => count !== 0)).toEqual([{ untilSeconds: 10, count: 1 }])
})

test('keeps counts equal to the messages for concurrent statuses in any order', async () => {
  const { db } = server.deps
  const second = await account.addWhatsAppAccount({ phoneNumberId: '190000000000123' })
  const recipients = ['34600111222', '34911222333', '4915112345678', '14165550123']
  const sent = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      send(recipients[index % 4], {
        ...(index % 3 === 0 && { accountId: second }),
        ...(index % 5 === 0 && { template: 'hello_world', language: 'en_US', variables: undefined }),
      }),
    ),
  )
  const arbitrary = fc.array(
    fc.record({
      of: fc.constantFrom(...sent),
      status: fc.constantFrom('sent' as const, 'delivered' as const, 'read' as const, 'failed' as const),
      at: fc.integer({ min: -90, max: 400 }).map((seconds) => new Date(now.getTime() + seconds * 1000)),
      code: fc.constantFrom(131026, 131049),
    }),
    { minLength: 1, maxLength: 4 },
  )
  for (const reports of fc.sample(arbitrary, { numRuns: 60, seed: 4711 })) {
    await Promise.all([...reports.map((reported) => report(reported)), foldCounts(db, { batchSize: 5 })])
    const { rows } = await sql<Count>`
      with message as (
        select status, wa_message_id is not null as accepted, coalesce(error_code, '') as reason, template_name,
          whatsapp_account_id, case when to_number like '1416%' then 'CA' when to_number like '49%' then 'DE' else 'ES' end as country
        from messages where account_id = ${account.accountId}
      )
      select dimension, key, status, accepted, count(*)::integer as count
      from message, lateral (values ('reason', reason), ('template', template_name), ('number', whatsapp_account_id),
        ('country', country)) as dimensions (dimension, key)
      group by 1, 2, 3, 4`.execute(db)
    const period = toPeriod(lastDays(now, 2, 'UTC'), new Date(now.getTime() + day), 'UTC')
    const counts = await findCounts(db, account.accountId, period)
    const dimensions = ['reason', 'template', 'number', 'country'] as const
    expect(dimensions.map((dimension) => summarize(counts, dimension))).toEqual(
      dimensions.map((dimension) => summarize(rows, dimension)),
    )
    // Each dimension adds up to the same messages.
    const states = (['slot', 'deliverySeconds', ...dimensions] as const).map((dimension) =>
      sumStates(counts, dimension),
    )
    expect(states.every((ofDimension) => isDeepStrictEqual(ofDimension, states[0]))).toBe(true)
  }
})

/** The number of messages per value and state. */
function summarize(counts: readonly Count[], dimension: Count['dimension']): Record<string, number> {
  return Object.fromEntries(
    counts
      .filter((count) => count.dimension === dimension)
      .map(({ key, status, accepted, count }) => [`${key} ${status} ${accepted}`, count]),
  )
}

function sumStates(counts: readonly Count[], dimension: Count['dimension']): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const { status, accepted, count } of counts.filter((counted) => counted.dimension === dimension))
    sums[`${status} ${accepted}`] = (sums[`${status} ${accepted}`] ?? 0) + count
  return sums
}

test('does not count messages of another account', async () => {
  const other = await server.account()
  await send()
  await foldCounts(server.deps.db)
  await send()

  expect((await overview(other.accountId)).days.every(({ attempted }) => attempted === 0)).toBe(true)
  expect(await countsOf(now)).toMatchObject({ accepted: 2 })
})

test.each([7, 30, 90] as const)('lists %i days, oldest first, including days without messages', async (count) => {
  const { days } = await overview(account.accountId, count)

  expect(days.map(({ date }) => date)).toEqual(
    Array.from({ length: count }, (_, index) => dateOf(daysAgo(count - 1 - index))),
  )
  expect(new Set(days.map(({ attempted }) => attempted))).toEqual(new Set([0]))
})

test('keeps the counts when messages move to another partition or are dropped', async () => {
  const { db } = server.deps
  const long = daysAgo(60)
  const id = encodeId('msg', long.getTime(), new Uint8Array(10))
  await sql`
    insert into messages (account_id, id, whatsapp_account_id, status, to_number, template_name, template_language, created_at)
    values (${account.accountId}, ${id}, 'wa_1', 'pending', '34600111222', 't', 'en', ${long})`.execute(db)
  await report({ of: { messageId: id, waMessageId: 'wamid.LONG_AGO' }, status: 'read' })
  const before = await overview(account.accountId, 90)
  expect(before.days.find(({ date }) => date === dateOf(long))).toMatchObject({ accepted: 1, read: 1 })

  await createPartitions(db, long)
  expect(await overview(account.accountId, 90)).toEqual(before)
  expect(await dropOldPartitions(db, now, 30)).toContainEqual(expect.stringMatching(/^messages_/))

  expect(await overview(account.accountId, 90)).toEqual(before)
})

test.each([
  { retentionDays: 30, kept: 184, because: 'the overview shows and compares them' },
  { retentionDays: 200, kept: 207, because: 'messages are kept by whole weeks' },
])(
  'keeps counts for $kept with a retention of $retentionDays days because $because',
  async ({ retentionDays, kept }) => {
    const { db } = server.deps
    for (const age of [kept, kept + 1])
      await sql`
      insert into message_counts
      values (${account.accountId}, (now() at time zone 'UTC')::date - ${age}::integer, 'sent', true, '', -1, 1)`.execute(
        db,
      )

    await deleteOldCounts(db, new Date(), retentionDays)

    const rows = await db
      .selectFrom('message_counts')
      .select('day')
      .where('account_id', '=', account.accountId)
      .execute()
    expect(rows.map(({ day }) => dateOf(day))).toEqual([dateOf(daysAgo(kept))])
  },
)

test.each([
  { from: '9999-12-31', until: '9999-12-31' },
  { from: '0001-01-01', until: '0001-01-02' },
  { from: '0000-01-01', until: '0000-01-01' },
])('rejects the period from $from to $until', async (period) => {
  const { accountId } = account
  const viewer = await signedInOwner(server, accountId, { role: 'viewer' })

  const responses = [
    await viewer.query('overview.get', { accountId, period }),
    await viewer.query('overview.get', { accountId, compareWith: period }),
    await viewer.query('cost.get', { accountId, period }),
  ]

  for (const { statusCode, error } of responses) {
    expect(statusCode).toBe(400)
    expect(error.message).toContain('must be in the years 1970 to 9998')
  }
})
