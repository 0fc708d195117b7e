import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { updateAccount } from '../../../src/accounts/account.ts'
import { compactBuckets } from '../../../src/messages/queries/compact-counts.ts'
import { foldOldBuckets, sumCounts } from '../../../src/messages/queries/counts-store.ts'
import { signedInOwner, type TestOwner } from '../../support/user.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer, type TestAccount } from '../../support/server.ts'

let account: TestAccount
let viewer: TestOwner
/** Neither at the start of a day nor of a quarter of an hour, in any time zone. */
let now: Date
/** The time at which the test began: midnight may pass meanwhile. */
let today: Date
const server = await forFile(startTestServer({ deps: { now: () => now } }))

beforeEach(async () => {
  today = new Date()
  now = today
  account = await server.account()
  viewer = await signedInOwner(server, account.accountId)
  now = new Date(`${dateOf(daysAgo(0))}T13:37:00Z`)
})

const day = 86_400_000
const dateOf = (time: Date) => time.toISOString().slice(0, 10)
const startOf = (time: Date) => new Date(dateOf(time))
const daysAgo = (days: number) => new Date(today.getTime() - days * day)
const range = (from: number, until: number) => ({ from: dateOf(daysAgo(from)), until: dateOf(daysAgo(until)) })

/**
 * Adds several counts for every third quarter of an hour of the last days, until `now`: as many at any time of the day,
 * and at each quarter of some hours.
 */
async function fillDays(days: number): Promise<void> {
  await sql`
    insert into message_count_buckets (account_id, start, status, accepted, error_code, delivery_seconds,
      whatsapp_account_id, template_name, country, pricing, count)
    select ${account.accountId}, quarter, status, status <> 'failed' or template % 2 = 0,
      case when status = 'failed' and country <> 'FR' then '131026' else '' end,
      case when status in ('delivered', 'read') then template % 3 else -1 end,
      ${account.whatsAppAccountId}, 'template_' || template, country, case when status = 'read' then 'utility' else '' end,
      1 + (extract(epoch from quarter)::bigint / 900 * 7 + template * 3 + length(status)) % 5
    from generate_series(date_bin('15 minutes', ${now}::timestamptz, 'epoch') - ${days} * interval '1 day', ${now}, interval '45 minutes') quarter,
      generate_series(1, 3) template,
      unnest(array['ES', 'FR']) country,
      unnest(array['sent', 'delivered', 'read', 'failed']) status`.execute(server.deps.db)
}

async function countRows(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from message_count_buckets where account_id = ${account.accountId}`.execute(
    server.deps.db,
  )
  return rows[0]?.count ?? 0
}

async function read(name: string, input: object): Promise<unknown> {
  const { statusCode, data } = await viewer.query<unknown>(name, input)
  expect(statusCode).toBe(200)
  return data
}

/** Everything that is read from the counts. */
async function readFigures(): Promise<unknown> {
  const { accountId } = account
  const inputs = [
    { days: 7 },
    { days: 30 },
    { hours: 24 },
    { calendar: 'thisMonth' },
    { calendar: 'previousMonth' },
    { calendar: 'previousWeek' },
    { period: range(9, 5) },
    { period: range(6, 0), compareWith: range(16, 10) },
  ]
  const overviews: unknown[] = []
  // One after the other: an account may not read everything at once.
  for (const input of inputs) overviews.push(await read('overview.get', { accountId, ...input }))
  const costs = await read('cost.get', { accountId, days: 30 })
  const filters = [{}, { errorCode: 'UNKNOWN' }, { errorCode: '131026' }, { failure: 'rejected' }] as const
  const sums = filters.flatMap((filter) =>
    [4, 5, 12].map((ago) => ({ ...filter, from: startOf(daysAgo(ago)), until: startOf(daysAgo(ago - 3)) })),
  )
  return {
    overviews,
    costs,
    sums: await Promise.all(sums.map((filter) => sumCounts(server.deps.db, accountId, filter))),
  }
}

test.each(['UTC', 'Europe/Madrid', 'Asia/Kathmandu', 'America/Havana'])(
  'keeps every figure while counts of old days shrink, in %s',
  async (timeZone) => {
    const { db } = server.deps
    await updateAccount(server.deps, account.accountId, { timeZone })
    await fillDays(20)
    const before = await readFigures()
    const rowsBefore = await countRows()

    await compactBuckets(db, new Date(), { batchSize: 500, minRows: 100 })

    expect(await readFigures()).toEqual(before)
    const rows = await countRows()
    expect(rows).toBeLessThan(rowsBefore / 2)

    // Statuses that arrive late.
    await sql`
      insert into message_count_buckets (account_id, start, status, accepted, error_code, delivery_seconds,
        whatsapp_account_id, template_name, country, pricing, count)
      select ${account.accountId}, quarter, status, true, '', -1, ${account.whatsAppAccountId}, 'template_1', 'ES', '', count
      from generate_series(now() - interval '6 days', now() - interval '5 days', interval '1 hour') hour,
        date_bin('15 minutes', hour, 'epoch') quarter,
        (values ('sent', -1), ('failed', 1)) changed (status, count)
      on conflict do nothing`.execute(db)
    const changed = await readFigures()
    expect(await compactBuckets(db, new Date(), { minRows: 10 })).toBeGreaterThanOrEqual(0)
    expect(await readFigures()).toEqual(changed)
    expect(await compactBuckets(db, new Date(), { minRows: 100 })).toBe(0)
  },
)

test('leaves days that would not shrink', async () => {
  const { db } = server.deps
  await sql`
    insert into message_count_buckets (account_id, start, status, accepted, error_code, delivery_seconds, template_name, count)
    select ${account.accountId}, date_trunc('day', now(), 'UTC') - interval '6 days' + n * interval '15 minutes',
      'sent', true, '', -1, 'template_' || n, 1
    from generate_series(0, 95) n`.execute(db)

  expect(await compactBuckets(db, new Date(), { minRows: 10 })).toBe(0)
  expect(await countRows()).toBe(96)
})

test('folds compacted days into UTC days without a trace', async () => {
  const { db } = server.deps
  await updateAccount(server.deps, account.accountId, { timeZone: 'Europe/Madrid' })
  await fillDays(8)
  await compactBuckets(db, new Date(), { minRows: 100 })
  await sql`
    update message_count_buckets set start = start - interval '40 days' where account_id = ${account.accountId}`.execute(
    db,
  )

  await foldOldBuckets(db, new Date())

  const { rows } = await sql<{ count: number; kinds: number }>`
    select count(*)::integer as count, count(distinct template_name)::integer as kinds
    from message_counts where account_id = ${account.accountId} and template_name = ''`.execute(db)
  expect(rows).toEqual([{ count: 0, kinds: 0 }])
  expect(await countRows()).toBe(0)
})
