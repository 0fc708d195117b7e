import { type Kysely, sql } from 'kysely'
import type { Database } from '../../platform/db/schema.ts'

/** Another process may start a job again after this time, for example because the process that ran it was killed. */
const leaseSeconds = 900
const retrySeconds = 300

export interface InfrequentJob {
  name: string
  everySeconds: number
}

/**
 * Claims a job if it is due by the database clock, so that one of all processes runs it, however often they restart. A
 * due time that is too far away was stored before the clock was set back.
 */
export async function claimJob(db: Kysely<Database>, { name, everySeconds }: InfrequentJob): Promise<boolean> {
  const furthestSeconds = Math.max(everySeconds, leaseSeconds)
  const { rows } = await sql`
    insert into background_jobs as j (name, due_at, started_at)
    values (${name}, now() + ${leaseSeconds} * interval '1 second', now())
    on conflict (name) do update set due_at = excluded.due_at, started_at = excluded.started_at
    where j.due_at <= now() or j.due_at - now() > ${furthestSeconds} * interval '1 second'
    returning name`.execute(db)
  return rows.length > 0
}

/** Schedules the next run: after a failure, soon. */
export async function finishJob(
  db: Kysely<Database>,
  { name, everySeconds }: InfrequentJob,
  { failed }: { failed: boolean },
): Promise<void> {
  const waitSeconds = failed ? Math.min(retrySeconds, everySeconds) : everySeconds
  await sql`
    update background_jobs
    set due_at = now() + ${waitSeconds} * interval '1 second',
      finished_at = case when ${failed}::boolean then finished_at else now() end
    where name = ${name}`.execute(db)
}
