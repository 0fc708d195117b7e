import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import type { getOverview, Overview } from '../../../contracts/dashboard/overview.ts'
import type { InputOf } from '../../../contracts/procedure.ts'
import { updateAccount } from '../../../src/accounts/account.ts'
import { deleteEmptyBuckets, foldCounts, foldOldBuckets } from '../../../src/messages/queries/counts-store.ts'
import { applyStatuses } from '../../../src/messages/status/apply-statuses.ts'
import { updateMessageCounts } from '../../../src/platform/db/message-counts.ts'
import { sendOne } from '../../support/callbacks.ts'
import { exampleSend } from '../../support/example-send.ts'
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

const send = (fields: object = {}) => sendOne(account, fields)

async function report(
  { messageId, waMessageId }: Awaited<ReturnType<typeof send>>,
  status: 'delivered' | 'read',
): Promise<void> {
  const { accountId } = account
  await applyStatuses(server.deps, [
    { accountId, messageId, waMessageId, report: { waMessageId, status, at: now, error: undefined } },
  ])
}

/** Reads the overview like the dashboard. */
async function overview(input: Partial<InputOf<typeof getOverview>> = {}): Promise<Overview> {
  const viewer = await signedInOwner(server, account.accountId, { role: 'viewer' })
  const { data } = await viewer.query<Overview>('overview.get', { accountId: account.accountId, ...input })
  return data
}

const range = (from: number, until: number) => ({ from: dateOf(daysAgo(from)), until: dateOf(daysAgo(until)) })

const counts = (attempted: number, accepted: number, delivered: number, refused: number) =>
  expect.objectContaining({ attempted, accepted, delivered, read: 0, refused, undelivered: 0 })

const hello = { template: 'hello_world', language: 'en_US', variables: undefined }

/** Inserts the count deltas of a template's messages, as the trigger does. */
const countMessages = (template: string, status: string, of: number) =>
  sql`
  insert into message_count_buckets
    (account_id, start, status, accepted, error_code, delivery_seconds, template_name, count)
  values (${account.accountId}, date_bin('15 minutes', ${now}::timestamptz, 'epoch'), ${status}, true, '', -1, ${template}, ${of})`.execute(
    server.deps.db,
  )

test('lists the templates that fail most, even if others have more messages', async () => {
  for (let number = 1; number <= 11; number++) await countMessages(`frequent_${number}`, 'sent', 100 + number)
  await countMessages('rare', 'sent', 1)
  await countMessages('failing', 'failed', 2)

  const { templates } = await overview()

  const frequent = Array.from({ length: 10 }, (_, index) => `frequent_${11 - index}`)
  expect(templates.map(({ key }) => key)).toEqual([...frequent, 'failing'])
})

test('shows this month, the previous month and the previous week', async () => {
  now = today
  const month = await overview({ calendar: 'thisMonth' })
  expect([month.days[0]?.date, month.days.at(-1)?.date]).toEqual([`${dateOf(now).slice(0, 8)}01`, dateOf(now)])
  expect(month.isOver).toBe(false)

  const last = await overview({ calendar: 'previousMonth' })
  expect(last.days.at(-1)?.date).toBe(dateOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 0))))
  expect(last.isOver).toBe(true)

  const week = await overview({ calendar: 'previousWeek' })
  expect(week.days).toHaveLength(7)
  expect(new Date(week.days[0]?.date ?? '').getUTCDay()).toBe(1)
  expect(week.isOver).toBe(true)
})

test('breaks messages down by template, number and country', async () => {
  const second = await account.addWhatsAppAccount({ phoneNumberId: '190000000000234' })
  await report(await send(), 'delivered')
  await send({ to: '4915112345678' })
  await account.post('/api/v1/message/send', { ...exampleSend, to: '15550131026' })
  await send({ ...hello, to: '14165550123', accountId: second })

  const before = await overview()
  await foldCounts(server.deps.db)
  const { templates, numbers, countries, totals } = await overview()

  expect(totals).toEqual(counts(4, 3, 1, 1))
  expect(templates.map(({ key, ...of }) => [key, of])).toEqual([
    ['order_shipped', counts(3, 2, 1, 1)],
    ['hello_world', counts(1, 1, 0, 0)],
  ])
  expect(numbers.map(({ key, ...of }) => [key, of])).toEqual([
    [account.whatsAppAccountId, counts(3, 2, 1, 1)],
    [second, counts(1, 1, 0, 0)],
  ])
  expect(countries.map(({ key, ...of }) => [key, of])).toEqual([
    ['CA', counts(1, 1, 0, 0)],
    ['DE', counts(1, 1, 0, 0)],
    ['ES', counts(1, 1, 1, 0)],
    ['US', counts(1, 0, 0, 1)],
  ])
  expect({ ...before, until: '' }).toEqual({ ...(await overview()), until: '' })
})

test('lists ten templates and counts the others in the totals', async () => {
  await sql`
    insert into message_count_buckets (account_id, start, status, accepted, error_code, delivery_seconds, template_name, count)
    select ${account.accountId}, date_bin('15 minutes', ${now}::timestamptz, 'epoch'), 'sent', true, '', -1, 'template_' || n, n
    from generate_series(1, 12) n`.execute(server.deps.db)

  const { templates, totals } = await overview()

  expect(templates.map(({ key }) => key)).toEqual(Array.from({ length: 10 }, (_, index) => `template_${12 - index}`))
  expect(totals.attempted).toBe(78)
})

test('counts at most 500 templates by name', async () => {
  const { db } = server.deps
  await sql`
    insert into message_count_templates
    select ${account.accountId}, 'other_' || n from generate_series(1, 499) n`.execute(db)
  const [sent, other] = [await send(hello), await send()]
  await foldCounts(db)
  await report(sent, 'delivered')
  await report(other, 'delivered')
  await foldCounts(db)

  const { templates, totals } = await overview()

  // One fold counted both, and the limit left space for one.
  expect(templates).toMatchObject([{ key: 'hello_world', accepted: 1, delivered: 1 }])
  expect(totals).toMatchObject({ accepted: 2, delivered: 2 })
})

test('folds old quarters of an hour into days that keep their breakdown', async () => {
  const { db } = server.deps
  now = daysAgo(40)
  const sent = await send()
  await send({ to: '4915112345678' })
  await sql`
    insert into message_count_buckets (account_id, start, status, accepted, error_code, delivery_seconds, template_name, country, count)
    select ${account.accountId}, date_bin('15 minutes', ${now}::timestamptz, 'epoch') - n * interval '15 minutes',
      'sent', true, '', -1, 'order_shipped', 'FR', 1
    from generate_series(1, 3) n`.execute(db)
  now = today
  const before = await overview({ days: 90 })

  await foldCounts(db)
  await foldOldBuckets(db, new Date(), 2)

  expect({ ...(await overview({ days: 90 })), until: '' }).toEqual({ ...before, until: '' })
  const buckets = await db
    .selectFrom('message_count_buckets')
    .select('count')
    .where('account_id', '=', account.accountId)
    .execute()
  expect(buckets).toEqual([])
  await report(sent, 'read')
  await foldCounts(db)
  const { countries, totals } = await overview({ days: 90 })
  expect(countries.map(({ key, attempted, read }) => [key, attempted, read])).toEqual([
    ['FR', 3, 0],
    ['DE', 1, 0],
    ['ES', 1, 1],
  ])
  expect(totals).toMatchObject({ attempted: 5, read: 1 })
})

test('deletes counts of states without messages, and only those', async () => {
  const { db } = server.deps
  now = new Date(today.getTime() - 2 * 3_600_000)
  const sent = await send()
  await foldCounts(db)
  await report(sent, 'read')
  await foldCounts(db)
  const states = () =>
    db
      .selectFrom('message_count_buckets')
      .select(['status', 'count'])
      .where('account_id', '=', account.accountId)
      .orderBy('status')
      .execute()
  expect(await states()).toEqual([
    { status: 'read', count: 1 },
    { status: 'sent', count: 0 },
  ])

  await deleteEmptyBuckets(db)

  expect(await states()).toEqual([{ status: 'read', count: 1 }])
})

test('shows days in the time zone of the account', async () => {
  await updateAccount(server.deps, account.accountId, { timeZone: 'Pacific/Kiritimati' })
  const midnight = Date.parse(dateOf(daysAgo(3)))
  // Kiritimati is 14 hours ahead of UTC, so its day begins at 10:00.
  now = new Date(midnight + 9.9 * 3_600_000)
  await send()
  now = new Date(midnight + 10.1 * 3_600_000)
  await send()
  now = new Date(midnight + 23 * 3_600_000)
  await send()
  now = today

  const { days, timeZone } = await overview({ days: 7 })

  expect(timeZone).toBe('Pacific/Kiritimati')
  expect(days.filter(({ attempted }) => attempted > 0).map(({ date, attempted }) => [date, attempted])).toEqual([
    [dateOf(new Date(midnight)), 1],
    [dateOf(new Date(midnight + day)), 2],
  ])
})

test('lets an owner set the time zone, and records it', async () => {
  const { accountId } = account
  const owner = await signedInOwner(server, accountId)

  expect(await owner.mutate('overview.setTimeZone', { accountId, timeZone: 'Europe/Madrid' })).toMatchObject({
    statusCode: 200,
    data: { timeZone: 'Europe/Madrid' },
  })
  for (const timeZone of ['Europe/Atlantis', '+01:00', '', `Europe/${'x'.repeat(100)}`])
    expect(await owner.mutate('overview.setTimeZone', { accountId, timeZone })).toMatchObject({ statusCode: 400 })

  expect((await overview()).timeZone).toBe('Europe/Madrid')
  const { data } = await owner.query<{ items: { what: string }[] }>('audit.list', { accountId })
  expect(data.items.map(({ what }) => what)).toContain('set the time zone to Europe/Madrid')
})

test('shows the last 24 hours by hour', async () => {
  await updateAccount(server.deps, account.accountId, { timeZone: 'Asia/Kolkata' })
  const noon = Date.parse(`${dateOf(daysAgo(1))}T12:00:00Z`)
  // 17:10 and 17:50 in India, where an hour begins at half past in UTC.
  for (const minutes of [-20, 20, 25]) {
    now = new Date(noon + minutes * 60_000)
    await send()
  }
  now = new Date(noon + 40 * 60_000)

  const { days, unit, from } = await overview({ hours: 24 })

  expect(unit).toBe('hour')
  expect(days).toHaveLength(24)
  expect(days.at(-1)).toMatchObject({ time: '18:00', attempted: 0 })
  expect(days.at(-2)).toMatchObject({ time: '17:00', attempted: 3 })
  expect(from).toBe(new Date(noon + 30 * 60_000 - 23 * 3_600_000).toISOString())
})

test('compares with the previous period up to the same time of day', async () => {
  const noon = Date.parse(`${dateOf(daysAgo(1))}T12:00:00Z`)
  now = new Date(noon - 20 * day)
  await send()
  for (const hours of [-1, 1]) {
    now = new Date(noon - 7 * day + hours * 3_600_000)
    await send()
  }
  now = new Date(noon - 3_600_000)
  await send()
  now = new Date(noon)

  const { previous, totals } = await overview({ days: 7 })

  expect(totals.attempted).toBe(1)
  expect(previous).toMatchObject({
    from: dateOf(new Date(noon - 13 * day)),
    until: dateOf(new Date(noon - 7 * day)),
    totals: { attempted: 1 },
  })
})

test('compares with nothing if the counts do not reach back far enough', async () => {
  now = daysAgo(3)
  await send()
  now = today

  const week = await overview({ days: 7 })

  expect(week.previous).toBeUndefined()
  expect(week.firstDay).toBe(dateOf(daysAgo(3)))
  expect((await overview({ hours: 24 })).previous).toMatchObject({ totals: { attempted: 0 } })
})

test('compares any two periods', async () => {
  for (const age of [10, 9, 3]) {
    now = daysAgo(age)
    await send()
  }
  now = today

  const { days, totals, previous } = await overview({ period: range(4, 2), compareWith: range(10, 8) })

  expect(days.map(({ date }) => date)).toEqual([4, 3, 2].map((age) => dateOf(daysAgo(age))))
  expect(totals.attempted).toBe(1)
  expect(previous).toMatchObject({ ...range(10, 8), totals: { attempted: 2 } })
})

test.each([
  { period: { from: '2026-11-20', until: '2026-11-19' }, problem: 'must not be before the start' },
  { period: { from: '2026-01-01', until: '2026-04-03' }, problem: 'must be less than 92 days after the start' },
  { period: { from: '2026-11-20T00:00Z', until: '2026-11-21' }, problem: '' },
])('rejects the period $period.from to $period.until', async ({ period, problem }) => {
  const viewer = await signedInOwner(server, account.accountId, { role: 'viewer' })

  const { statusCode, error } = await viewer.query('overview.get', { accountId: account.accountId, period })

  expect(statusCode).toBe(400)
  expect(JSON.stringify(error)).toContain(problem)
})

test('keeps what an earlier version counted in UTC days without a breakdown', async () => {
  const { db } = server.deps
  await updateAccount(server.deps, account.accountId, { timeZone: 'Europe/Madrid' })
  now = daysAgo(2)
  const old = await send()
  await foldCounts(db)
  // The counts as that version stored them, and the time from which this one counts in quarters of an hour.
  await sql`delete from message_count_buckets where count = 0`.execute(db)
  await sql`
    update message_count_buckets
    set start = date_trunc('day', start, 'UTC'), whatsapp_account_id = '', template_name = '', country = ''
    where account_id = ${account.accountId}`.execute(db)
  await sql`
    update message_counts_start
    set at = date_bin('15 minutes', ${now}::timestamptz, 'epoch') + interval '15 minutes'`.execute(db)
  await updateMessageCounts(db)

  await report(old, 'read')
  await foldCounts(db)
  // After that time.
  now = new Date(today.getTime() + 20 * 60_000)
  await send()

  const { days, totals, templates, utcBefore, breakdownSince } = await overview({ days: 7 })
  expect(totals).toMatchObject({ attempted: 2, read: 1 })
  expect(days.find(({ date }) => date === dateOf(daysAgo(2)))).toMatchObject({ attempted: 1, read: 1 })
  expect(templates).toMatchObject([{ key: 'order_shipped', attempted: 1, read: 0 }])
  expect(utcBefore).toBe(breakdownSince?.slice(0, 10))
})
