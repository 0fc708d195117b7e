import { type Kysely, sql } from 'kysely'
import type { Database } from '../../platform/db/schema.ts'

/** Longer than any send takes: a message that is pending for longer is waiting for a status. */
const aMinute = sql.raw(`interval '1 minute'`)
/** Maximum number of messages per statement, so that none runs long. */
const defaultBatchSize = 100_000

/**
 * Counts the messages that have been pending for more than a minute by the database's clock, all of them or only those
 * of the last hours. Reads all accounts, so it is for operators only.
 */
export async function countStalePending(
  db: Kysely<Database>,
  { lastHours }: { lastHours?: number } = {},
): Promise<{ count: number; oldestSeconds: number }> {
  const { lookedUntil } = await db
    .selectFrom('overdue_progress')
    .select(sql<string>`looked_until::text`.as('lookedUntil'))
    .executeTakeFirstOrThrow()
  const { rows } = await sql<{ count: number; oldestSeconds: number }>`
    select count(*)::integer as count, coalesce(extract(epoch from now() - min(recorded_at)), 0)::float8 as "oldestSeconds"
    from (
      select m.recorded_at from overdue_messages join messages m using (account_id, id) where m.status = 'pending'
      union all
      -- Messages that have not been examined yet.
      select recorded_at from messages where recorded_at > ${lookedUntil}::timestamptz and status = 'pending'
    ) pending
    where recorded_at < now() - ${aMinute}
      and recorded_at >= coalesce(now() - ${lastHours ?? null}::float8 * interval '1 hour', '-infinity')`.execute(db)
  return rows[0] ?? { count: 0, oldestSeconds: 0 }
}

/**
 * Examines each message once, a minute after it was recorded, and lists it if it is still pending. An index of pending
 * messages would have to be updated with every message. Messages that now have an outcome are removed from the list.
 * Only one node at a time does this, for all accounts.
 */
export async function recordStalePending(db: Kysely<Database>, batchSize: number = defaultBatchSize): Promise<void> {
  while (await db.transaction().execute((trx) => recordSome(trx, batchSize)));
  await sql`
    delete from overdue_messages o
    where not exists (
      select from messages m where m.account_id = o.account_id and m.id = o.id and m.status = 'pending'
    )`.execute(db)
}

/**
 * Moves the cursor back when the clock was set back: messages are then recorded at times that were already examined.
 */
export async function resetStalePendingCursor(db: Kysely<Database>): Promise<void> {
  await sql`update overdue_progress set looked_until = least(looked_until, now() - ${aMinute})`.execute(db)
}

/** Returns whether there are more messages to examine. */
async function recordSome(trx: Kysely<Database>, batchSize: number): Promise<boolean> {
  // As text, because a Date would truncate the microseconds.
  const { rows } = await sql<{ since: string }>`
    select looked_until::text as since from overdue_progress for update skip locked`.execute(trx)
  const since = rows[0]?.since
  if (since === undefined) return false
  const { rows: ends } = await sql<{ until: string; more: boolean }>`
    select least(due, next)::text as until, next < due as more
    from (
      select now() - ${aMinute} as due, (
        select recorded_at from messages where recorded_at > ${since}::timestamptz
        order by recorded_at offset ${sql.lit(batchSize - 1)} limit 1
      ) as next
    ) ends`.execute(trx)
  const { until = since, more = false } = ends[0] ?? {}
  await sql`
    insert into overdue_messages (account_id, id)
    select account_id, id from messages
    where recorded_at > ${since}::timestamptz and recorded_at <= ${until}::timestamptz and status = 'pending'
    on conflict do nothing`.execute(trx)
  await sql`
    update overdue_progress set looked_until = greatest(looked_until, ${until}::timestamptz)`.execute(trx)
  return more
}
