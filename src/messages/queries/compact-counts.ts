import { type Kysely, sql } from 'kysely'
import { dayMilliseconds } from '../../../contracts/time.ts'
import type { Database } from '../../platform/db/schema.ts'
import { bucketDays, bucketKey, defaultBatchSize, repeatLocked } from './counts-store.ts'
import { shiftDay, startOfDay } from './periods.ts'

/** The last 24 hours, and the 24 hours before them, are shown by the hour with their breakdown. */
const detailedDays = 3
/** Days with fewer rows are left, because there is little to gain. */
const defaultMinRows = 1_000

const state = sql.raw('account_id, status, accepted')
const noBreakdown = sql.raw(`'' as error_code, -1 as delivery_seconds, '' as whatsapp_account_id, '' as template_name,
  '' as country, '' as pricing`)
const hasBreakdown = sql.raw(`(error_code, delivery_seconds, whatsapp_account_id, template_name, country, pricing)
  <> ('', -1, '', '', '', '')`)

interface BusyDay {
  accountId: string
  timeZone: string
  /** In UTC. */
  day: string
}

/**
 * Moves the breakdowns of days that are older than three into one row per day, and returns how many rows were moved. Only
 * totals are read by the quarter of an hour later, to compare a period that is not over with an earlier one.
 */
export async function compactBuckets(
  db: Kysely<Database>,
  now: Date,
  { minRows = defaultMinRows, batchSize = defaultBatchSize }: { minRows?: number; batchSize?: number } = {},
): Promise<number> {
  const today = now.toISOString().slice(0, 10)
  let moved = 0
  for (let age = detailedDays + 1; age <= bucketDays; age++)
    for (const busy of await findBusyAccounts(db, shiftDay(today, -age), minRows))
      moved += await repeatLocked(db, batchSize, (trx) => moveSome(trx, busy, batchSize))
  return moved
}

/** Accounts whose counts of a UTC day would take less than half of their rows. Reads all accounts. */
async function findBusyAccounts(db: Kysely<Database>, day: string, minRows: number): Promise<BusyDay[]> {
  const inDay = sql`start >= ${day}::date::timestamp at time zone 'UTC'
    and start < (${day}::date + 1)::timestamp at time zone 'UTC' and ${hasBreakdown}`
  const { rows } = await sql<BusyDay>`
    select busy.account_id as "accountId", a.time_zone as "timeZone", ${day} as day
    from (
      select account_id, count(*) as rows from message_count_buckets where ${inDay}
      group by account_id
      -- A day that was compacted has its breakdowns at its start, and at the start of the local day in between.
      having count(*) >= ${minRows}::integer and count(distinct start) > 2
    ) busy
    join accounts a on a.id = busy.account_id
    cross join lateral (
      select count(distinct (status, accepted, start)) as totals,
        count(distinct (status, accepted, error_code, delivery_seconds, whatsapp_account_id, template_name, country, pricing)) as kinds
      from message_count_buckets b where b.account_id = busy.account_id and ${inDay}
    ) compacted
    -- A UTC day has parts of two local days.
    where busy.rows > 2 * (compacted.totals + 2 * compacted.kinds)`.execute(db)
  return rows
}

/**
 * A count with a breakdown moves to the start of its part of the day. A total takes its place, and is subtracted again at
 * that start, so that every sum over whole days and every total stays the same.
 */
async function moveSome(trx: Kysely<Database>, { accountId, timeZone, day }: BusyDay, limit: number): Promise<number> {
  const starts = sql`${listPartStarts(day, timeZone)}::timestamptz[]`
  const { rows } = await sql<{ count: number }>`
    with taken as (
      delete from message_count_buckets
      where ctid = any(array(
        select ctid from message_count_buckets
        where account_id = ${accountId} and start >= ${day}::date::timestamp at time zone 'UTC'
          and start < (${day}::date + 1)::timestamp at time zone 'UTC' and start <> all(${starts}) and ${hasBreakdown}
        limit ${sql.lit(limit)}
      ))
      returning *
    ), placed as (
      select *, (${starts})[width_bucket(start, ${starts})] as part from taken
    ), placed_totals as (
      select ${state}, part, start, sum(count) as count from placed group by ${state}, part, start
    ), moved as (
      select ${state}, error_code, delivery_seconds, whatsapp_account_id, template_name, country, pricing, part as start, count
      from placed
      union all
      select ${state}, ${noBreakdown}, start, count from placed_totals
      union all
      select ${state}, ${noBreakdown}, part, -count from placed_totals
    ), added as (
      insert into message_count_buckets as c (${bucketKey}, count)
      select ${bucketKey}, sum(count) from moved group by ${bucketKey} having sum(count) <> 0
      on conflict (${bucketKey}) do update set count = c.count + excluded.count
    )
    select count(*)::integer as count from taken`.execute(trx)
  return rows[0]?.count ?? 0
}

/** The start of a UTC day, and of the local days that begin in it. */
function listPartStarts(day: string, timeZone: string): string[] {
  const from = new Date(`${day}T00:00:00Z`)
  const local = [-1, 0, 1, 2].map((days) => startOfDay(shiftDay(day, days), timeZone))
  const inside = local.filter((start) => start > from && start.getTime() < from.getTime() + dayMilliseconds)
  return [from, ...inside].map((start) => start.toISOString())
}
