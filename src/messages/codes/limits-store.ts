import { type Kysely, sql } from 'kysely'
import type { Database } from '../../platform/db/schema.ts'

/** A maximum number of uses per hour, with a minimum pause between two of them. */
export interface CodeLimit {
  kind: 'send_to' | 'send_ip' | 'check_ip'
  subject: Uint8Array
  max: number
  pauseSeconds?: number
}

/** A window far in the future started before the clock of the database was set back. */
const windowEnded = sql.raw(
  `(excluded.window_started_at - l.window_started_at >= interval '1 hour' or l.window_started_at - excluded.window_started_at > interval '1 minute')`,
)

/**
 * Counts one use and returns undefined. If the limit is reached, counts nothing and returns how many seconds to wait.
 */
export async function spend(db: Kysely<Database>, accountId: string, limit: CodeLimit): Promise<number | undefined> {
  const { kind, subject, max, pauseSeconds = 0 } = limit
  const pause = sql`${pauseSeconds}::float8 * interval '1 second'`
  const { rows } = await sql<{ used: number }>`
    insert into one_time_code_limits as l (account_id, kind, subject, window_started_at, last_at, used)
    values (${accountId}, ${kind}, ${subject}, now(), now(), 1)
    on conflict (account_id, kind, subject) do update set
      window_started_at = case when ${windowEnded} then excluded.window_started_at else l.window_started_at end,
      used = case when ${windowEnded} then 1 else l.used + 1 end,
      last_at = excluded.last_at
    where (l.used < ${max} or ${windowEnded}) and (excluded.last_at - l.last_at >= ${pause} or l.last_at - excluded.last_at > interval '1 minute')
    returning used`.execute(db)
  return rows.length > 0 ? undefined : readWait(db, accountId, limit)
}

async function readWait(db: Kysely<Database>, accountId: string, limit: CodeLimit): Promise<number> {
  const { kind, subject, max, pauseSeconds = 0 } = limit
  const { rows } = await sql<{ seconds: number }>`
    select ceil(extract(epoch from greatest(
      l.last_at + ${pauseSeconds}::float8 * interval '1 second' - now(),
      case when l.used >= ${max} then l.window_started_at + interval '1 hour' - now() end
    )))::integer as seconds
    from one_time_code_limits l where account_id = ${accountId} and kind = ${kind} and subject = ${subject}`.execute(db)
  return Math.max(1, rows[0]?.seconds ?? 1)
}

/** Reverts one use that had no effect, and its pause. */
export async function refund(
  db: Kysely<Database>,
  accountId: string,
  { kind, subject, pauseSeconds = 0 }: CodeLimit,
): Promise<void> {
  await sql`
    update one_time_code_limits
    set used = greatest(used - 1, 0), last_at = last_at - ${pauseSeconds}::float8 * interval '1 second'
    where account_id = ${accountId} and kind = ${kind} and subject = ${subject}`.execute(db)
}

/** Resets the count for a recipient who entered the correct code. The pause still applies. */
export async function reset(
  db: Kysely<Database>,
  accountId: string,
  { kind, subject }: Pick<CodeLimit, 'kind' | 'subject'>,
): Promise<void> {
  await db
    .updateTable('one_time_code_limits')
    .set({ used: 0 })
    .where('account_id', '=', accountId)
    .where('kind', '=', kind)
    .where('subject', '=', Buffer.from(subject))
    .execute()
}
