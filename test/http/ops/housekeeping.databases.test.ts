import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { type JobLog, startHousekeeping } from '../../../src/http/ops/housekeeping.ts'
import { createTestDeps } from '../../accounts/deps.ts'
import { openTestDatabase, type TestDatabase } from '../../support/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await openTestDatabase()
})
afterEach(() => vi.useRealTimers())
afterAll(() => database.close())

async function listPartitions(): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relispartition and relkind = 'r' order by relname`.execute(database.db)
  return rows.map((row) => row.name)
}

/** Runs the hourly maintenance until `done`. */
async function runMaintenance(now: Date, done: () => Promise<boolean>): Promise<void> {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const housekeeping = startHousekeeping(
    { ...createTestDeps(database), now: () => now },
    { retentionDays: 30, outcomeUnknownAfterSeconds: 3600 },
  )
  vi.advanceTimersByTime(3_600_000)
  await housekeeping.stop()
  vi.useRealTimers()
  await expect.poll(done).toBe(true)
}

test('creates and drops partitions by the database clock, not by a node clock 60 days ahead', async () => {
  const before = await listPartitions()
  // The remaining tables are cleaned last.
  await sql`
    insert into webhook_attempts (account_id, delivery_id, endpoint_id, event_id, number, started_at, duration_ms)
    values ('acc_1', 'dlv_1', 'ep_1', 'evt_1', 1, now() - interval '60 days', 1)`.execute(database.db)

  await runMaintenance(new Date(Date.now() + 60 * 86_400_000), async () => {
    const { rows } = await sql`select 1 from webhook_attempts`.execute(database.db)
    return rows.length === 0
  })

  expect(await listPartitions()).toEqual(before)
})

test('stops after running jobs have ended, so that the database can be closed', async () => {
  const running = new Set<string>()
  const jobs: JobLog = {
    start: (name) => {
      running.add(name)
      return () => running.delete(name)
    },
  }
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const housekeeping = startHousekeeping(createTestDeps(database), {
    retentionDays: 30,
    outcomeUnknownAfterSeconds: 3600,
    jobs,
  })
  vi.advanceTimersByTime(10_000)
  const runningAtStop = [...running]
  await housekeeping.stop()

  expect(runningAtStop).toContain('record stale pending messages')
  expect([...running]).toEqual([])
})
