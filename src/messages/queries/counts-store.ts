import { type Kysely, sql } from 'kysely'
import type { MessageStatus } from '../../../contracts/api/message.ts'
import type { FailureStage } from '../../../contracts/dashboard/message.ts'
import { noReason } from '../../../contracts/fields.ts'
import type { Database } from '../../platform/db/schema.ts'
import type { Period } from './periods.ts'

/** What the overview breaks the messages of a period down by. */
export type Dimension = 'slot' | 'template' | 'number' | 'country' | 'reason' | 'deliverySeconds'

/** Messages of a period that are in one state and have one value of a dimension. */
export interface Count {
  dimension: Dimension
  /**
   * The index of a slot, the name of a template, the ID of a WhatsApp account, an ISO country, an error code (empty:
   * none), or the seconds from sent to delivered, rounded down to a step (-1: not known). A template, a number or a
   * country is empty if it was not counted.
   */
  key: string
  status: MessageStatus
  /** WhatsApp took the message, whatever came after. */
  accepted: boolean
  count: number
}

const state = sql.raw('account_id, status, accepted, error_code, delivery_seconds')
const breakdown = sql.raw('whatsapp_account_id, template_name, country')
const bucketKey = sql`${state}, ${breakdown}, pricing, start`
const dayKey = sql`${state}, ${breakdown}, pricing, day`
const utcDay = sql.raw(`(start at time zone 'UTC')::date`)
/** Messages before it are in UTC days, without a breakdown (migration 0024). */
const countsStart = sql.raw('(select at from message_counts_start)')

/**
 * The slots and their counts, from days, quarters of an hour and what is not folded yet, in one statement: a fold
 * meanwhile is seen as a whole or not at all. Counts of a whole UTC day belong to the day of that name; hours have none.
 */
export function countsOf(accountId: string, { unit, from, until, fromDay, untilDay, slots }: Period) {
  const columns = sql`status, accepted, error_code, delivery_seconds, ${breakdown}, pricing, count`
  // As subqueries: the lists are then read once instead of for each row.
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

/** Of each dimension, counts that add up to the messages of the period. */
export async function findCounts(db: Kysely<Database>, accountId: string, period: Period): Promise<Count[]> {
  const { rows } = await sql<Count>`
    select
      case grouping(slot, template_name, whatsapp_account_id, country, error_code, delivery_seconds)
        when 31 then 'slot' when 47 then 'template' when 55 then 'number' when 59 then 'country' when 61 then 'reason'
        else 'deliverySeconds' end as dimension,
      coalesce(slot::text, template_name, whatsapp_account_id, country, error_code, delivery_seconds::text) as key,
      status, accepted, sum(count)::integer as count
    from (
      -- A slot has up to 96 quarters of an hour, so most rows are added up before they are grouped six times.
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

/** The messages of a period by state alone. */
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
  /** Since when messages are counted by quarters of an hour; undefined: always. */
  start: Date | undefined
  /** The first UTC day that is not folded. */
  firstBucketDay: string
  /** The time of the oldest count; of a folded day, when it begins in UTC. Undefined: nothing was counted. */
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
  sinceDay?: string | undefined
  untilDay?: string | undefined
  status?: MessageStatus | undefined
  failure?: FailureStage | undefined
  errorCode?: string | undefined
}

/** The messages of whole days in UTC. Pending ones are not counted. */
export async function sumCounts(
  db: Kysely<Database>,
  accountId: string,
  { sinceDay = '-infinity', untilDay = 'infinity', status, failure, errorCode }: CountFilter,
): Promise<number> {
  // Counts of messages without a code have an empty one.
  const codes = errorCode === undefined ? undefined : errorCode === noReason ? [noReason, ''] : [errorCode]
  const matching = sql`
    account_id = ${accountId}
      and (${status ?? null}::text is null or status = ${status ?? null})
      and (${failure ?? null}::text is null
        or (status = 'failed' and accepted = (${failure ?? null}::text = 'undelivered')))
      and (${codes ?? null}::text[] is null or (status = 'failed' and error_code = any(${codes ?? null}::text[])))`
  const inDays = sql`day between ${sinceDay}::date and ${untilDay}::date`
  const inBuckets = sql`
    start >= ${sinceDay}::date::timestamp at time zone 'UTC'
      and start < (${untilDay}::date + 1)::timestamp at time zone 'UTC'`
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

/** A statement folds this many rows at most, so that none of them is long. */
const foldedAtOnce = 20_000
/** Any number that no other user of the database locks: "counts" in letters of a phone keypad. */
const advisoryLock = 268_687
/** Quarters of an hour are kept for this long, so that the last 30 days are shown in any time zone. */
const bucketDays = 35
/** Of an account. A caller who sends ever new templates cannot make the counts grow without end. */
const maxTemplates = 500

/** By the database's clock. */
const firstBucketStart = sql`(date_trunc('day', now(), 'UTC') - ${bucketDays}::integer * interval '1 day')`

/**
 * Moves what the trigger has noted since into the counts; returns how many rows those were. While one
 * node does it, the others leave it to that node. Of all accounts.
 */
export function foldCounts(db: Kysely<Database>, batchSize: number = foldedAtOnce): Promise<number> {
  return repeatLocked(db, batchSize, (trx) => foldSome(trx, batchSize))
}

/** Moves quarters of an hour that are older than 35 days into UTC days; returns how many rows those were. */
export function foldOldBuckets(db: Kysely<Database>, batchSize: number = foldedAtOnce): Promise<number> {
  return repeatLocked(db, batchSize, (trx) => foldSomeBuckets(trx, batchSize))
}

async function repeatLocked(
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

async function foldSome(trx: Kysely<Database>, limit: number): Promise<number> {
  const isOfDay = sql`start < greatest(${countsStart}, ${firstBucketStart})`
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

async function foldSomeBuckets(trx: Kysely<Database>, limit: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with taken as (
      delete from message_count_buckets
      where ctid = any(array(
        select ctid from message_count_buckets where start < ${firstBucketStart} limit ${sql.lit(limit)}
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

/** States that messages have left: most leave `sent` and `delivered` within hours. Of all accounts. */
export async function deleteEmptyBuckets(db: Kysely<Database>): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (!(await lockCounts(trx))) return
    await sql`
      delete from message_count_buckets
      where count = 0 and start between now() - interval '3 days' and now() - interval '1 hour'`.execute(trx)
  })
}

/** The overview's longest period of 92 days and the one before it. They are shown even if the messages are deleted. */
const shownDays = 184

/**
 * By the database's clock, of all accounts. Never sooner than the messages, of which whole weeks are kept:
 * one that is still there can still change what is counted.
 */
export async function deleteOldCounts(db: Kysely<Database>, retentionDays: number): Promise<void> {
  const keptDays = Math.max(retentionDays + 7, shownDays)
  await sql`
    delete from message_counts
    where day < (now() at time zone 'UTC')::date - ${keptDays}::integer`.execute(db)
}
