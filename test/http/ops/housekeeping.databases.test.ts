import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createHousekeeping, type JobLog } from '../../../src/http/ops/housekeeping.ts'
import { createTestDeps } from '../../accounts/deps.ts'
import { openTestDatabase, type TestDatabase } from '../../support/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.close())

async function listPartitions(): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relispartition and relkind = 'r' order by relname`.execute(database.db)
  return rows.map((row) => row.name)
}

const retention = { retentionDays: 30, outcomeUnknownAfterSeconds: 3600 }

test('creates and drops partitions by the database clock, not by a node clock 60 days ahead', async () => {
  const before = await listPartitions()
  await sql`
    insert into webhook_attempts (account_id, delivery_id, endpoint_id, event_id, number, started_at, duration_ms)
    values ('acc_1', 'dlv_1', 'ep_1', 'evt_1', 1, now() - interval '60 days', 1)`.execute(database.db)

  const ahead = new Date(Date.now() + 60 * 86_400_000)
  await createHousekeeping({ ...createTestDeps(database), now: () => ahead }, retention).run(
    'create or drop partitions',
  )

  expect((await sql`select from webhook_attempts`.execute(database.db)).rows).toEqual([])
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
  const housekeeping = createHousekeeping(createTestDeps(database), { ...retention, jobs })
  void housekeeping.run('record stale pending messages')
  const runningAtStop = [...running]
  await housekeeping.stop()

  expect(runningAtStop).toContain('record stale pending messages')
  expect([...running]).toEqual([])
})
