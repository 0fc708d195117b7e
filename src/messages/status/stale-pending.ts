import { type Kysely, sql } from 'kysely'
import type { Database } from '../../platform/db/schema.ts'

/** A send takes less, whatever it met: what is pending for longer waits for a status. */
const aMinute = sql.raw(`interval '1 minute'`)
/** A statement looks at this many messages at most, so that none of them is long. */
const lookedAtOnce = 100_000

/**
 * Messages without an outcome for more than a minute by the database's clock, all of them or only those
 * of the last hours. Reads all accounts: for operators only.
 */
export async function countStalePending(
  db: Kysely<Database>,
  { lastHours }: { lastHours?: number } = {},
): Promise<{ count: number; oldestSeconds: number }> {
  const { looked_until } = await db
    .selectFrom('overdue_progress')
    .select(sql<string>`looked_until::text`.as('looked_until'))
    .executeTakeFirstOrThrow()
  const { rows } = await sql<{ count: number; oldest_seconds: number }>`
    select count(*)::integer as count, coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as oldest_seconds
    from (
      select m.created_at from overdue_messages join messages m using (account_id, id) where m.status = 'pending'
      union all
      -- Those that nobody has looked at yet.
      select created_at from messages where recorded_at > ${looked_until}::timestamptz and status = 'pending'
    ) pending
    where created_at < now() - ${aMinute}
      and created_at >= coalesce(now() - ${lastHours ?? null}::float8 * interval '1 hour', '-infinity')`.execute(db)
  return { count: rows[0]?.count ?? 0, oldestSeconds: rows[0]?.oldest_seconds ?? 0 }
}

/**
 * Looks at each message once, a minute after it was recorded, and notes those that are still pending: an index of
 * them would have to be changed with every message. Forgets those that have an outcome by now. While one node does
 * it, the others leave it to that node. Of all accounts.
 */
export async function recordStalePending(db: Kysely<Database>, atOnce: number = lookedAtOnce): Promise<void> {
  while (await db.transaction().execute((trx) => noteSome(trx, atOnce)));
  await sql`
    delete from overdue_messages o
    where not exists (
      select from messages m where m.account_id = o.account_id and m.id = o.id and m.status = 'pending'
    )`.execute(db)
}

/** When the clock was set back, messages are recorded at times that were looked at already: those are looked at again. */
export async function lookAgainAtMessages(db: Kysely<Database>): Promise<void> {
  await sql`update overdue_progress set looked_until = least(looked_until, now() - ${aMinute})`.execute(db)
}

/** Whether there is more to look at. */
async function noteSome(trx: Kysely<Database>, atOnce: number): Promise<boolean> {
  // As text: a Date would cut off the microseconds.
  const { rows } = await sql<{ since: string }>`
    select looked_until::text as since from overdue_progress for update skip locked`.execute(trx)
  const since = rows[0]?.since
  if (since === undefined) return false
  const { rows: ends } = await sql<{ until: string; more: boolean }>`
    select least(due, next)::text as until, next < due as more
    from (
      select now() - ${aMinute} as due, (
        select recorded_at from messages where recorded_at > ${since}::timestamptz
        order by recorded_at offset ${sql.lit(atOnce - 1)} limit 1
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
