import { type Kysely, sql } from 'kysely'

/**
 * Adds a row for each seldom job, such as dropping partitions. Written by the process that runs the job. The version
 * before runs the same jobs by its own uptime, which does no harm.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table background_jobs (
      name text collate "C" primary key,
      -- While the job runs, the end of its lease.
      due_at timestamptz not null,
      started_at timestamptz not null,
      finished_at timestamptz
    )`.execute(db)
}
