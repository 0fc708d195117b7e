import { type Kysely, sql } from 'kysely'
import type { Database } from '../platform/db/schema.ts'

/** Another process may start a job again after this time, for example because the process that ran it was killed. */
const leaseSeconds = 900
const retrySeconds = 300

/**
 * Under which names older versions store jobs. They are keys: they stay if the text of a job is reworded, because two names
 * would run a job twice while both versions run.
 */
const storedNames: Readonly<Record<string, string>> = {
  'job.deleteExpiredIdempotencyKeys': 'delete expired idempotency keys',
  'job.deleteOldSeenReplies': 'delete old deduplication records of replies',
  'job.deleteExpiredOneTimeCodes': 'delete expired one-time codes',
  'job.createOrDropPartitions': 'create or drop partitions',
  'job.deleteOldContents': 'delete old contents of messages',
  'job.deleteExpiredSignIns': 'delete expired sign-ins',
  'job.deleteExpiredAuditEntries': 'delete expired audit log entries',
  'job.deleteExpiredFiles': 'delete expired files',
  'job.aggregateOldCounts': 'aggregate old message counts by day',
  'job.createHealthRecords': 'create health records for WhatsApp accounts from an earlier version',
}

/** The name of a job in the database: the code of its fact, except for those above. */
function nameInDatabase(code: string): string {
  return storedNames[code] ?? code
}

export interface InfrequentJob {
  /** The code of its fact. */
  code: string
  everySeconds: number
}

/**
 * Claims a job if it is due by the database clock, so that one of all processes runs it, however often they restart. A
 * due time that is too far away was stored before the clock was set back.
 */
export async function claimJob(db: Kysely<Database>, { code, everySeconds }: InfrequentJob): Promise<boolean> {
  const furthestSeconds = Math.max(everySeconds, leaseSeconds)
  const { rows } = await sql`
    insert into background_jobs as j (name, due_at, started_at)
    values (${nameInDatabase(code)}, now() + ${leaseSeconds} * interval '1 second', now())
    on conflict (name) do update set due_at = excluded.due_at, started_at = excluded.started_at
    where j.due_at <= now() or j.due_at - now() > ${furthestSeconds} * interval '1 second'
    returning name`.execute(db)
  return rows.length > 0
}

/** Schedules the next run: after a failure, soon. */
export async function finishJob(
  db: Kysely<Database>,
  { code, everySeconds }: InfrequentJob,
  { failed }: { failed: boolean },
): Promise<void> {
  const waitSeconds = failed ? Math.min(retrySeconds, everySeconds) : everySeconds
  await sql`
    update background_jobs
    set due_at = now() + ${waitSeconds} * interval '1 second',
      finished_at = case when ${failed}::boolean then finished_at else now() end
    where name = ${nameInDatabase(code)}`.execute(db)
}
