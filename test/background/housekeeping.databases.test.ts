import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { jobs as jobFacts } from '../../contracts/facts/jobs.ts'
import { claimJob, finishJob } from '../../src/background/due-jobs.ts'
import { createAccount } from '../../src/accounts/account.ts'
import { createHousekeeping, type JobLog } from '../../src/background/housekeeping.ts'
import { createPartitions } from '../../src/platform/db/partitions.ts'
import { createTestDeps } from '../support/deps.ts'
import { openTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { forFile } from '../support/lifetime.ts'

const database = await forFile(openTestDatabase())

async function listPartitions(): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relispartition and relkind = 'r' order by relname`.execute(database.db)
  return rows.map((row) => row.name)
}

const retention = { retentionDays: 30, outcomeUnknownAfterSeconds: 3600 }

async function recordOldAttempt(): Promise<void> {
  await sql`
    insert into webhook_attempts (account_id, delivery_id, endpoint_id, event_id, number, started_at, duration_ms)
    values ('acc_1', 'dlv_1', 'ep_1', 'evt_1', 1, now() - interval '60 days', 1)`.execute(database.db)
}

test('creates and drops partitions by the database clock, not by a node clock 60 days ahead', async () => {
  // A day may have begun since the database was created.
  await createPartitions(database.db, new Date())
  const before = await listPartitions()
  await recordOldAttempt()

  const ahead = new Date(Date.now() + 60 * 86_400_000)
  await createHousekeeping({ ...createTestDeps(database), now: () => ahead }, retention).run(
    jobFacts.createOrDropPartitions,
  )

  expect((await sql`select from webhook_attempts`.execute(database.db)).rows).toEqual([])
  expect(await listPartitions()).toEqual(before)
})

test('deletes no history if the database clock is 60 days ahead of the node', async () => {
  await recordOldAttempt()
  const attempts = () => sql`select from webhook_attempts`.execute(database.db)
  const before = (await attempts()).rows

  const behind = new Date(Date.now() - 60 * 86_400_000)
  await createHousekeeping({ ...createTestDeps(database), now: () => behind }, retention).run(
    jobFacts.createOrDropPartitions,
  )

  expect((await attempts()).rows).toEqual(before)
})

test('deletes no codes and folds no counts if the database clock is 60 days ahead of the node', async () => {
  const behind = new Date(Date.now() - 60 * 86_400_000)
  const deps = createTestDeps(database)
  const { accountId } = await createAccount(deps, { name: 'Behind' })
  const { db } = database
  await sql`
    insert into one_time_codes (account_id, id, to_number, purpose, mac, attempts_left, created_at, expires_at)
    values (${accountId}, 'code_1', '34600111222', '', '', 5, now(), now() - interval '2 hours')`.execute(db)
  await sql`
    insert into owner_invitations (account_id, token_hash, email, role, expires_at)
    values (${accountId}, 'hash', 'ana@example.com', 'owner', now() - interval '1 day')`.execute(db)
  await sql`insert into api_request_cutoffs (at) values (now() - interval '2 hours')`.execute(db)
  await sql`
    insert into message_count_buckets (account_id, start, status, accepted, error_code, delivery_seconds, count)
    values (${accountId}, date_trunc('hour', now()) - interval '50 days', 'sent', true, '', -1, 1)`.execute(db)
  const tables = ['one_time_codes', 'owner_invitations', 'api_request_cutoffs', 'message_count_buckets'] as const
  const count = async () => {
    const rows = await Promise.all(tables.map((table) => sql`select from ${sql.table(table)}`.execute(db)))
    return rows.map((result) => result.rows.length)
  }
  const clean = (now: Date) =>
    createHousekeeping({ ...deps, now: () => now }, retention).run(
      jobFacts.deleteExpiredOneTimeCodes,
      jobFacts.deleteExpiredSignIns,
      jobFacts.createOrDropPartitions,
      jobFacts.aggregateOldCounts,
    )

  await clean(behind)
  expect(await count()).toEqual([1, 1, 1, 1])
  await clean(new Date())
  expect(await count()).toEqual([0, 0, 0, 0])
})

test('drops partitions while old deliveries cannot be deleted', async () => {
  await recordOldAttempt()
  await sql`
    create function reject_as_late() returns trigger language plpgsql as $$
      begin raise exception 'canceling statement due to statement timeout' using errcode = '57014'; end
    $$`.execute(database.db)
  await sql`
    create trigger reject_as_late before delete on webhook_deliveries execute function reject_as_late()`.execute(
    database.db,
  )
  await sql`
    insert into webhook_deliveries (account_id, id, endpoint_id, event_id, due_at, created_at)
    values ('acc_1', 'dlv_1', 'ep_1', 'evt_1', now(), now())`.execute(database.db)
  const failed: string[] = []
  const jobLog: JobLog = {
    start:
      ({ code }) =>
      (run) =>
        void (run.failed && failed.push(code)),
  }

  // The row is old by the clock of the database, and data is deleted only if it is also old by that of the node.
  const deps = { ...createTestDeps(database), now: () => new Date() }
  await createHousekeeping(deps, { ...retention, jobLog }).run(
    jobFacts.deleteOldDeliveries,
    jobFacts.createOrDropPartitions,
  )

  expect(failed).toEqual([jobFacts.deleteOldDeliveries().code])
  expect((await sql`select from webhook_attempts`.execute(database.db)).rows).toEqual([])
  await sql`drop function reject_as_late cascade`.execute(database.db)
})

/** Lets time pass on nodes that start one after the other, and returns how often they dropped partitions. */
async function countDrops({ nodes, minutes }: { nodes: number; minutes: number }): Promise<number> {
  let drops = 0
  const jobLog: JobLog = {
    start: ({ code }) => ((drops += code === jobFacts.createOrDropPartitions().code ? 1 : 0), () => {}),
  }
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  for (let node = 0; node < nodes; node++) {
    const housekeeping = createHousekeeping(createTestDeps(database), { ...retention, jobLog })
    housekeeping.start()
    vi.advanceTimersByTime(minutes * 60_000)
    // A busy embedded database rejects statements, and the node asks again a minute later.
    await eventually(async () => {
      vi.advanceTimersByTime(60_000)
      expect(await isDone('delete expired files')).toBe(true)
    })
    await housekeeping.stop()
  }
  vi.useRealTimers()
  return drops
}

/** Jobs are claimed in the order in which they are listed: those listed before this one have been claimed or are not due. */
async function isDone(job: string): Promise<boolean> {
  const { rows } = await sql<{ done: boolean }>`
    select due_at > now() and finished_at >= started_at as done
    from background_jobs where name = ${job}`.execute(database.db)
  return rows[0]?.done ?? false
}

async function letPass(minutes: number): Promise<void> {
  await sql`update background_jobs set due_at = due_at - ${minutes} * interval '1 minute'`.execute(database.db)
}

test('runs hourly jobs on nodes that restart every few minutes, once an hour', async () => {
  await letPass(60)
  expect(await countDrops({ nodes: 3, minutes: 2 })).toBe(1)
  await letPass(50)
  expect(await countDrops({ nodes: 1, minutes: 60 })).toBe(0)
  await letPass(10)
  expect(await countDrops({ nodes: 1, minutes: 2 })).toBe(1)
})

test('lets one of several processes run a job', async () => {
  const job = { code: 'a contested job', everySeconds: 3600 }
  const claims = await Promise.all(Array.from({ length: 5 }, () => claimJob(database.db, job)))
  expect(claims.filter(Boolean)).toEqual([true])
})

test('does not run a job that the version before has just run', async () => {
  const { code } = jobFacts.deleteOldContents()
  await sql`delete from background_jobs where name <> 'delete expired files'`.execute(database.db)
  await sql`
    insert into background_jobs (name, due_at, started_at)
    values ('delete old contents of messages', now() + interval '1 hour', now())`.execute(database.db)

  expect(await claimJob(database.db, { code, everySeconds: 3600 })).toBe(false)
})

test('runs a job again soon after it failed, and after its node was killed', async () => {
  const job = { code: 'a job', everySeconds: 3600 }
  expect(await claimJob(database.db, job)).toBe(true)
  await finishJob(database.db, job, { failed: true })
  expect(await claimJob(database.db, job)).toBe(false)
  await letPass(5)
  expect(await claimJob(database.db, job)).toBe(true)
  await letPass(15)
  expect(await claimJob(database.db, job)).toBe(true)
})

test('runs a job whose due time is from before the clock was set back', async () => {
  const job = { code: 'another job', everySeconds: 3600 }
  expect(await claimJob(database.db, job)).toBe(true)
  await finishJob(database.db, job, { failed: false })
  await letPass(-1)
  expect(await claimJob(database.db, job)).toBe(true)
})

test('stops after running jobs have ended, so that the database can be closed', async () => {
  const running = new Set<string>()
  const jobLog: JobLog = {
    start: ({ code }) => {
      running.add(code)
      return () => running.delete(code)
    },
  }
  const housekeeping = createHousekeeping(createTestDeps(database), { ...retention, jobLog })
  void housekeeping.run(jobFacts.recordStalePending)
  const runningAtStop = [...running]
  await housekeeping.stop()

  expect(runningAtStop).toContain(jobFacts.recordStalePending().code)
  expect([...running]).toEqual([])
})
