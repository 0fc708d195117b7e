import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { jobs as jobFacts } from '../../contracts/facts/jobs.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { createJobLog, listProcesses, startProcessReport } from '../../src/background/process-report.ts'
import { createTestDeps } from '../support/deps.ts'
import { openTestDatabase } from '../support/database.ts'
import { forFile } from '../support/lifetime.ts'

const database = await forFile(openTestDatabase())

test('reports a process with its jobs, deletes dead ones after a day and removes itself on stop', async () => {
  await sql`
    insert into server_processes (id, version, role, host, jobs, seen_at)
    values ('prc_dead', '0.0.1', 'all', 'gone', '[]', now() - interval '25 hours'),
      ('prc_old', '0.0.1', 'worker', 'other', '{"another":"format"}', now() - interval '1 hour')`.execute(database.db)
  const jobs = createJobLog(() => new Date('2026-11-22T09:30:00Z'))
  jobs.start(jobFacts.syncTemplates(), 15)({ failed: true })
  jobs.start(jobFacts.syncTemplates(), 15)({ failed: false })
  jobs.start(jobFacts.sendDueAlerts(), 5)

  const report = startProcessReport(createTestDeps(database), { role: 'all', listJobs: jobs.list })
  await expect.poll(async () => (await listProcesses(database.db)).map(({ id }) => id)).not.toContain('prc_dead')

  const at = '2026-11-22T09:30:00.000Z'
  expect(await listProcesses(database.db)).toMatchObject([
    {
      version: packageJson.version,
      role: 'all',
      alive: true,
      jobs: [
        { name: 'sync templates', runs: 2, failures: 1, lastRunAt: at, lastFailureAt: at, lastMilliseconds: 0 },
        { name: 'send alerts that are due', runs: 0, failures: 0, lastRunAt: at },
      ],
    },
    { id: 'prc_old', alive: false, jobs: [] },
  ])
  await report.stop()
  expect((await listProcesses(database.db)).map(({ id }) => id)).toEqual(['prc_old'])
})

test('reports a failed database neither to the caller nor as an unhandled rejection', async () => {
  const broken = await openTestDatabase()
  const deps = createTestDeps(broken)
  await broken.close()
  const report = startProcessReport(deps, { role: 'api', listJobs: () => [] })

  await expect(report.stop()).resolves.toBeUndefined()
})
