import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { MessageStatus } from '../../../contracts/api/message.ts'
import type { FailureStage } from '../../../contracts/dashboard/message.ts'
import { unknownCode } from '../../../contracts/fields.ts'
import type { Database } from '../../platform/db/schema.ts'
import type { Period } from './periods.ts'

/** A dimension by which the overview breaks down the messages of a period. */
export type Dimension = 'slot' | 'template' | 'number' | 'country' | 'reason' | 'deliverySeconds'

/** The number of messages of a period in one state and with one value of a dimension. */
export interface Count {
  dimension: Dimension
  /**
   * The index of a slot, the name of a template, the ID of a WhatsApp account, an ISO country, an error code (empty:
   * none), or the seconds from sent to delivered, rounded down to a step (-1: not known). A template, a number or a
   * country is empty if it was not counted.
   */
  key: string
  status: MessageStatus
  /** WhatsApp accepted the message, even if it failed later. */
  accepted: boolean
  count: number
}

const state = sql.raw('account_id, status, accepted, error_code, delivery_seconds')
const breakdown = sql.raw('whatsapp_account_id, template_name, country')
export const bucketKey = sql`${state}, ${breakdown}, pricing, start`
const dayKey = sql`${state}, ${breakdown}, pricing, day`
const utcDay = sql.raw(`(start at time zone 'UTC')::date`)
/** Earlier messages are counted by UTC day, without a breakdown (message-counts.ts). */
const countsStart = sql.raw('(select at from message_counts_start)')

/**
 * Selects the counts by slot, from days, quarter-hours and deltas that are not folded yet. One statement reads them
 * all, so that it sees a concurrent fold completely or not at all. The counts of a UTC day are shown on the local day
 * of the same date, and left out of hourly periods.
 */
export function countsOf(accountId: string, { unit, from, until, fromDay, untilDay, slots }: Period) {
  const columns = sql`status, accepted, error_code, delivery_seconds, ${breakdown}, pricing, count`
  // Subqueries, so that the lists are evaluated once instead of for each row.
  const starts = sql`(select ${slots.map(({ start }) => start.toISOString())}::timestamptz[])`
  const dates = sql`(select ${slots.map(({ date }) => date)}::date[])`
  const isWithin = sql`account_id = ${accountId} and start >= ${from} and start < ${until}`
  const slot = sql`width_bucket(start, ${starts}) - 1 as slot`
  const exact = sql`
    select ${slot}, ${columns} from message_count_buckets where ${isWithin}
    union all
    select ${slot}, ${columns} from message_count_deltas where ${isWithin} and start >= ${countsStart}`
  if (unit === 'hour') return exact
  return sql`
    ${exact}
    union all
    select array_position(${dates}, day) - 1, ${columns} from message_counts
    where account_id = ${accountId} and day between ${fromDay}::date and ${untilDay}::date
    union all
    select array_position(${dates}, ${utcDay}) - 1, ${columns} from message_count_deltas
    where account_id = ${accountId} and start < ${countsStart} and ${utcDay} between ${fromDay}::date and ${untilDay}::date`
}

/** Finds the counts of each dimension, which add up to the messages of the period. */
export async function findCounts(db: Kysely<Database>, accountId: string, period: Period): Promise<Count[]> {
  const { rows } = await sql<Count>`
    select
      case grouping(slot, template_name, whatsapp_account_id, country, error_code, delivery_seconds)
        when 31 then 'slot' when 47 then 'template' when 55 then 'number' when 59 then 'country' when 61 then 'reason'
        else 'deliverySeconds' end as dimension,
      coalesce(slot::text, template_name, whatsapp_account_id, country, error_code, delivery_seconds::text) as key,
      status, accepted, sum(count)::integer as count
    from (
      -- A slot has up to 96 quarter-hours, so rows are summed first, before they are grouped six times.
      select slot, status, accepted, error_code, delivery_seconds, ${breakdown}, sum(count) as count
      from (${countsOf(accountId, period)}) counted
      group by slot, status, accepted, error_code, delivery_seconds, ${breakdown}
    ) counted
    group by grouping sets (
      (slot, status, accepted), (template_name, status, accepted), (whatsapp_account_id, status, accepted),
      (country, status, accepted), (error_code, status, accepted), (delivery_seconds, status, accepted)
    )
    having sum(count) <> 0`.execute(db)
  return rows
}

/** Counts the messages of a period by state only. */
export async function findTotals(
  db: Kysely<Database>,
  accountId: string,
  period: Period,
): Promise<Pick<Count, 'status' | 'accepted' | 'count'>[]> {
  const { rows } = await sql<Pick<Count, 'status' | 'accepted' | 'count'>>`
    select status, accepted, sum(count)::integer as count
    from (${countsOf(accountId, period)}) counted
    group by status, accepted
    having sum(count) <> 0`.execute(db)
  return rows
}

export interface CountLimits {
  /** When counting by quarter-hours began; undefined if all messages are counted so. */
  start: Date | undefined
  /** The first UTC day that is still counted by quarter-hours. */
  firstBucketDay: string
  /** The time of the oldest count; for a folded day, its start in UTC. Undefined if there are no counts. */
  oldest: Date | undefined
}

export async function findCountLimits(db: Kysely<Database>, accountId: string): Promise<CountLimits> {
  const { rows } = await sql<{ start: Date | null; firstBucketDay: string; oldest: Date | null }>`
    select
      (select nullif(at, '-infinity') from message_counts_start) as start,
      (${firstBucketStart} at time zone 'UTC')::date::text as "firstBucketDay",
      least(
        (select min(day)::timestamp at time zone 'UTC' from message_counts where account_id = ${accountId}),
        (select min(start) from message_count_buckets where account_id = ${accountId}),
        (select min(start) from message_count_deltas where account_id = ${accountId})
      ) as oldest`.execute(db)
  const { start = null, firstBucketDay = '', oldest = null } = rows[0] ?? {}
  return { start: start ?? undefined, firstBucketDay, oldest: oldest ?? undefined }
}

interface CountFilter {
  from?: Date | undefined
  /** Exclusive. */
  until?: Date | undefined
  status?: MessageStatus | undefined
  failure?: FailureStage | undefined
  errorCode?: string | undefined
}

/**
 * Counts messages without pending ones. The quarter-hours at both ends count as a whole. So do the UTC days where only days
 * are counted, and with `errorCode`, because compacted counts have no code except for the whole day.
 */
export async function sumCounts(
  db: Kysely<Database>,
  accountId: string,
  { from, until, status, failure, errorCode }: CountFilter,
): Promise<number> {
  // Counts of messages without a code have an empty one.
  const codes = errorCode === undefined ? undefined : errorCode === unknownCode ? [unknownCode, ''] : [errorCode]
  const matching = sql`
    account_id = ${accountId}
      and (${status ?? null}::text is null or status = ${status ?? null})
      and (${failure ?? null}::text is null
        or (status = 'failed' and accepted = (${failure ?? null}::text = 'undelivered')))
      and (${codes ?? null}::text[] is null or (status = 'failed' and error_code = any(${codes ?? null}::text[])))`
  const [start, end] = [from ?? '-infinity', until ?? 'infinity']
  const inDays = sql`
    day >= (${start}::timestamptz at time zone 'UTC')::date and day < ${end}::timestamptz at time zone 'UTC'`
  const inBuckets =
    codes === undefined
      ? sql`start >= date_bin('15 minutes', ${start}::timestamptz, 'epoch') and start < ${end}::timestamptz`
      : sql`start >= date_trunc('day', ${start}::timestamptz, 'UTC')
          and date_trunc('day', start, 'UTC') < ${end}::timestamptz`
  const { rows } = await sql<{ count: number }>`
    select coalesce(sum(count), 0)::integer as count
    from (
      select count from message_counts where ${matching} and ${inDays}
      union all
      select count from message_count_buckets where ${matching} and ${inBuckets}
      union all
      select count from message_count_deltas where ${matching} and ${inBuckets}
    ) counted`.execute(db)
  return rows[0]?.count ?? 0
}

/** Maximum number of rows per statement, so that none runs long. */
export const defaultBatchSize = 20_000
/** An arbitrary number that nothing else in the database locks: "counts" on a phone keypad. */
const advisoryLock = 268_687
/** Quarter-hours are kept this long, so that the last 30 days can be shown in any time zone. */
export const bucketDays = 35
/** Per account, so that a caller who keeps sending new templates cannot make the counts grow without limit. */
const maxTemplates = 500

/** By the database's clock. */
const firstBucketStart = firstBucketStartAt(sql`now()`)

function firstBucketStartAt(now: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(date_trunc('day', ${now}, 'UTC') - ${bucketDays}::integer * interval '1 day')`
}

/**
 * Moves the deltas that the trigger has written into the counts, and returns how many rows. Only one node at a time
 * does this, for all accounts.
 */
export function foldCounts(
  db: Kysely<Database>,
  { now, batchSize = defaultBatchSize }: { now?: Date; batchSize?: number } = {},
): Promise<number> {
  const time = now === undefined ? sql`now()` : sql`${now}::timestamptz`
  return repeatLocked(db, batchSize, (trx) => foldSome(trx, time, batchSize))
}

/** Moves quarter-hours that are older than 35 days into UTC days, and returns how many rows. */
export function foldOldBuckets(db: Kysely<Database>, now: Date, batchSize: number = defaultBatchSize): Promise<number> {
  return repeatLocked(db, batchSize, (trx) => foldSomeBuckets(trx, now, batchSize))
}

export async function repeatLocked(
  db: Kysely<Database>,
  batchSize: number,
  fold: (trx: Kysely<Database>) => Promise<number>,
): Promise<number> {
  let folded = 0
  for (;;) {
    const count = await db.transaction().execute(async (trx) => ((await lockCounts(trx)) ? fold(trx) : 0))
    folded += count
    if (count < batchSize) return folded
  }
}

/** Returns false if another node holds the lock. */
async function lockCounts(trx: Kysely<Database>): Promise<boolean> {
  const { rows } = await sql<{ held: boolean }>`
    select pg_try_advisory_xact_lock(${advisoryLock}) as held`.execute(trx)
  return rows[0]?.held === true
}

async function foldSome(trx: Kysely<Database>, now: RawBuilder<unknown>, limit: number): Promise<number> {
  const isOfDay = sql`start < greatest(${countsStart}, ${firstBucketStartAt(now)})`
  const { rows } = await sql<{ count: number }>`
    with taken as (
      delete from message_count_deltas
      where ctid = any(array(select ctid from message_count_deltas limit ${sql.lit(limit)}))
      returning *
    ), unknown as (
      select distinct account_id, template_name from taken t
      where template_name <> '' and not exists (
        select from message_count_templates k
        where k.account_id = t.account_id and k.template_name = t.template_name
      )
    ), added_template as (
      insert into message_count_templates (account_id, template_name)
      select account_id, template_name
      from (select *, row_number() over (partition by account_id order by template_name) as rank from unknown) u
      where rank + (select count(*) from message_count_templates k where k.account_id = u.account_id) <= ${maxTemplates}::integer
      returning account_id, template_name
    ), named as (
      select ${state}, whatsapp_account_id, coalesce(k.template_name, a.template_name, '') as template_name, country, pricing, start, count
      from taken t
      left join message_count_templates k using (account_id, template_name)
      left join added_template a using (account_id, template_name)
    ), in_buckets as (
      insert into message_count_buckets as c (${bucketKey}, count)
      select ${bucketKey}, sum(count) from named where not ${isOfDay} group by ${bucketKey} having sum(count) <> 0
      on conflict (${bucketKey}) do update set count = c.count + excluded.count
    ), in_days as (
      insert into message_counts as c (${dayKey}, count)
      select ${dayKey}, sum(count) from (select *, ${utcDay} as day from named where ${isOfDay}) n
      group by ${dayKey} having sum(count) <> 0
      on conflict (${dayKey}) do update set count = c.count + excluded.count
    )
    select count(*)::integer as count from taken`.execute(trx)
  return rows[0]?.count ?? 0
}

async function foldSomeBuckets(trx: Kysely<Database>, now: Date, limit: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with taken as (
      delete from message_count_buckets
      where ctid = any(array(
        select ctid from message_count_buckets where start < ${firstBucketStartAt(sql`${now}::timestamptz`)} limit ${sql.lit(limit)}
      ))
      returning *
    ), in_days as (
      insert into message_counts as c (${dayKey}, count)
      select ${dayKey}, sum(count) from (select *, ${utcDay} as day from taken) t
      group by ${dayKey} having sum(count) <> 0
      on conflict (${dayKey}) do update set count = c.count + excluded.count
    )
    select count(*)::integer as count from taken`.execute(trx)
  return rows[0]?.count ?? 0
}

/** Deletes counts that are 0 again: most messages leave `sent` and `delivered` within hours. Covers all accounts. */
export async function deleteEmptyBuckets(db: Kysely<Database>): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (!(await lockCounts(trx))) return
    await sql`
      delete from message_count_buckets
      where count = 0 and start between now() - interval '3 days' and now() - interval '1 hour'`.execute(trx)
  })
}

/** The overview's longest period of 92 days, and the previous one. They are shown even if the messages are deleted. */
const shownDays = 184

/**
 * Deletes old counts, for all accounts. Counts are kept longer than messages, of which whole weeks are kept, because a
 * stored message can still change its count.
 */
export async function deleteOldCounts(db: Kysely<Database>, now: Date, retentionDays: number): Promise<void> {
  const keptDays = Math.max(retentionDays + 7, shownDays)
  await sql`
    delete from message_counts
    where day < (${now}::timestamptz at time zone 'UTC')::date - ${keptDays}::integer`.execute(db)
}
