import { type Kysely, sql } from 'kysely'
import type { MessageStatus } from '../../../contracts/api/message.ts'
import { noReason } from '../../../contracts/fields.ts'
import type { Database } from '../../platform/db/schema.ts'

/** Messages of a day that are in one state. */
export interface StateCount {
  /** `2026-11-20`, in UTC. */
  day: string
  status: MessageStatus
  /** WhatsApp took the message, whatever came after. */
  accepted: boolean
  /** Empty: none. */
  errorCode: string
  /** From sent to delivered, rounded down to a step (overview.ts); -1: not known. */
  deliverySeconds: number
  count: number
}

const key = sql.raw('account_id, day, status, accepted, error_code, delivery_seconds')

/** What is folded and what is not yet, in one statement: a fold meanwhile is seen as a whole or not at all. */
export async function findCounts(db: Kysely<Database>, accountId: string, sinceDay: string): Promise<StateCount[]> {
  const { rows } = await sql<StateCount>`
    select day::text as day, status, accepted, error_code as "errorCode", delivery_seconds as "deliverySeconds",
      sum(count)::integer as count
    from (
      select ${key}, count from message_counts where account_id = ${accountId} and day >= ${sinceDay}::date
      union all
      select ${key}, count from message_count_deltas where account_id = ${accountId} and day >= ${sinceDay}::date
    ) counted
    group by ${key}
    having sum(count) <> 0`.execute(db)
  return rows
}

interface CountFilter {
  sinceDay?: string | undefined
  untilDay?: string | undefined
  status?: MessageStatus | undefined
  errorCode?: string | undefined
}

/** The messages of whole days in UTC. Pending ones are not counted. */
export async function sumCounts(
  db: Kysely<Database>,
  accountId: string,
  { sinceDay = '-infinity', untilDay = 'infinity', status, errorCode }: CountFilter,
): Promise<number> {
  // Counts of messages without a code have an empty one.
  const codes = errorCode === undefined ? undefined : errorCode === noReason ? [noReason, ''] : [errorCode]
  const matching = sql`
    account_id = ${accountId} and day between ${sinceDay}::date and ${untilDay}::date
      and (${status ?? null}::text is null or status = ${status ?? null})
      and (${codes ?? null}::text[] is null or (status = 'failed' and error_code = any(${codes ?? null}::text[])))`
  const { rows } = await sql<{ count: number }>`
    select coalesce(sum(count), 0)::integer as count
    from (
      select count from message_counts where ${matching}
      union all
      select count from message_count_deltas where ${matching}
    ) counted`.execute(db)
  return rows[0]?.count ?? 0
}

/** A statement folds this many rows at most, so that none of them is long. */
const foldedAtOnce = 20_000
/** Any number that no other user of the database locks: "counts" in letters of a phone keypad. */
const advisoryLock = 268_687

/**
 * Moves what the trigger has noted since into the counts; returns how many rows those were. While one
 * node does it, the others leave it to that node. Of all accounts.
 */
export async function foldCounts(db: Kysely<Database>, batchSize: number = foldedAtOnce): Promise<number> {
  let folded = 0
  for (;;) {
    const count = await db.transaction().execute((trx) => foldSome(trx, batchSize))
    folded += count
    if (count < batchSize) return folded
  }
}

async function foldSome(trx: Kysely<Database>, limit: number): Promise<number> {
  const { rows: locks } = await sql<{ held: boolean }>`
    select pg_try_advisory_xact_lock(${advisoryLock}) as held`.execute(trx)
  if (!locks[0]?.held) return 0
  const { rows } = await sql<{ count: number }>`
    with taken as (
      delete from message_count_deltas
      where ctid = any(array(select ctid from message_count_deltas limit ${sql.lit(limit)}))
      returning *
    ), added as (
      insert into message_counts as c (${key}, count)
      select ${key}, sum(count) from taken group by ${key} having sum(count) <> 0
      on conflict (${key}) do update set count = c.count + excluded.count
    )
    select count(*)::integer as count from taken`.execute(trx)
  return rows[0]?.count ?? 0
}

/** The longest time that the overview can show, whatever is kept of the messages themselves. */
const shownDays = 90

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
