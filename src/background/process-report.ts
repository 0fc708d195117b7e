import { hostname } from 'node:os'
import { type Kysely, sql } from 'kysely'
import { z } from 'zod'
import packageJson from '../../package.json' with { type: 'json' }
import { Job, type ServerProcess } from '../../contracts/dashboard/console.ts'
import { withFacts } from '../../contracts/facts/fact.ts'
import type { Deps } from '../deps.ts'
import type { Database } from '../platform/db/schema.ts'
import type { JobLog } from './housekeeping.ts'

const everyMilliseconds = 15_000
const maxProcesses = 50

/** Keeps the last run of each job of this process. Error texts are omitted, because they can contain host names and data. */
export function createJobLog(now: () => Date): JobLog & { list(): Job[] } {
  const jobs = new Map<string, Job>()
  return {
    start: (fact, everySeconds) => {
      const startedAt = now()
      const { code } = fact
      const previous = jobs.get(code) ?? { ...withFacts({ name: fact }), everySeconds, runs: 0, failures: 0 }
      jobs.set(code, { ...previous, lastRunAt: startedAt.toISOString() })
      return ({ failed }) => {
        const endedAt = now()
        const job = jobs.get(code) ?? previous
        jobs.set(code, {
          ...job,
          lastMilliseconds: Math.max(0, endedAt.getTime() - startedAt.getTime()),
          runs: job.runs + 1,
          ...(failed && { failures: job.failures + 1, lastFailureAt: endedAt.toISOString() }),
        })
      }
    },
    list: () => [...jobs.values()],
  }
}

interface ReportedProcess {
  role: string
  listJobs: () => Job[]
}

/**
 * Records this process in the database every 15 seconds, for the operator console. A failed report is not retried,
 * because the next one has the same data. A process that stops deletes its row.
 */
export function startProcessReport(
  { db, log, newId }: Pick<Deps, 'db' | 'log' | 'newId'>,
  { role, listJobs }: ReportedProcess,
): { stop(): Promise<void> } {
  const id = newId('prc')
  let running: Promise<void> | undefined
  const report = () => {
    running ??= saveProcess(db, { id, role, jobs: listJobs() })
      .catch((error: unknown) => log.debug({ err: error }, 'could not report this process'))
      .finally(() => (running = undefined))
  }
  report()
  const timer = setInterval(report, everyMilliseconds).unref()
  return {
    stop: async () => {
      clearInterval(timer)
      await running
      await deleteProcess(db, id).catch((error: unknown) =>
        log.debug({ err: error }, 'could not delete the report of this process'),
      )
    },
  }
}

/** Also deletes rows of processes that were killed more than a day ago. */
async function saveProcess(
  db: Kysely<Database>,
  { id, role, jobs }: { id: string; role: string; jobs: Job[] },
): Promise<void> {
  await sql`
    with forgotten as (delete from server_processes where seen_at < now() - interval '1 day' and id <> ${id})
    insert into server_processes (id, version, role, host, jobs)
    values (${id}, ${packageJson.version}, ${role}, ${hostname()}, ${JSON.stringify(jobs)})
    on conflict (id) do update set seen_at = now(), jobs = excluded.jobs`.execute(db)
}

async function deleteProcess(db: Kysely<Database>, id: string): Promise<void> {
  await db.deleteFrom('server_processes').where('id', '=', id).execute()
}

/** Returns the processes of the last day, most recently seen first. */
export async function listProcesses(db: Kysely<Database>): Promise<ServerProcess[]> {
  const rows = await db
    .selectFrom('server_processes')
    .select(['id', 'version', 'role', 'host', 'started_at as startedAt', 'seen_at as seenAt', 'jobs'])
    .select(sql<boolean>`seen_at > now() - interval '1 minute'`.as('alive'))
    .orderBy('seen_at', 'desc')
    .limit(maxProcesses)
    .execute()
  return rows.map(({ startedAt, seenAt, jobs, ...row }) => ({
    ...row,
    startedAt: startedAt.toISOString(),
    seenAt: seenAt.toISOString(),
    jobs: readJobs(jobs),
  }))
}

/** A process of another version may store its jobs in a different format. */
function readJobs(text: string): Job[] {
  return z.array(Job).safeParse(JSON.parse(text)).data ?? []
}
