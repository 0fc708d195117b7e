import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { patience } from './test/support/patience.ts'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { translateDashboard } from './src/packaging/translate-dashboard.ts'
import { useMemoryDisk } from './test/support/memory-disk.ts'

useMemoryDisk()

/**
 * Tests that start or kill processes, install, or need a browser or compilers: `npm run test:processes`, `test:faults`,
 * `test:fresh`, `test:package`, `test:upgrade`, `test:browser`, `test:snippets`, `test:clients`, `test:deploy`, `gallery`, `lighthouse`.
 */
const separate = ['test/{browser,clients,deploy,faults,fresh,gallery,package,processes,snippets,upgrade}/**']

/** Tests whose result does not depend on the database: they run once, on PGlite where they need one at all. */
const databaseIndependent = [
  'test/*.test.ts',
  'test/platform/*.test.ts',
  'test/{chaos,contracts,dashboard,packaging,whatsapp}/**/*.test.ts',
  'test/accounts/{allow-list-ranges,budget,ip-allow-list}.test.ts',
  'test/cli/{control-socket,idle-collection,syntax}.test.ts',
  'test/http/{call-budget,callback-body,callback-turns,docs,guides,json-body,validation}.test.ts',
  'test/media/{detect-type,download,s3-store}.test.ts',
  'test/messages/{fingerprint,number,rate-card,replay,status,status-times,zoned-days}.test.ts',
  'test/templates/{example,variables}.test.ts',
  'test/webhooks/{address,alert-decisions,endpoint-concurrency,endpoint-rate,receiver,receiver-responses,retry,sign}.test.ts',
]

/**
 * What can fail on one database only: stores, migrations, the queue, idempotency, and one test file of each entrance.
 * Everything else runs on PostgreSQL alone.
 */
const onBothDatabases = [
  'test/{users,platform/db}/**/*.test.ts',
  'test/messages/{breakdown,codes,contents,erasure,idempotency,journal,outcome-unknown,overdue,reading,record,replies,send,settle,suppressions}.test.ts',
  'test/accounts/{account,key,rate-limit,rekey,whatsapp-account}.test.ts',
  'test/cli/doctor.test.ts',
  'test/http/{clock-watch,callbacks,callback-statuses,callback-updates,housekeeping,metrics}.test.ts',
  'test/http/dashboard/messages.test.ts',
  'test/templates/sync.test.ts',
  'test/webhooks/{attempt-counts,deliveries,endpoint-limits,endpoint-secrets,endpoints,list-events,status-alerts,worker}.test.ts',
]

/** Files with tests that wait for ten seconds and more. Begun last, one would keep a worker busy after all others. */
const slow = /\/(?:fairness|locks|samples|upload|endpoint-limits|managed|embedded)\.test\.ts$/

const isSlow = ({ moduleId }: TestSpecification) => slow.test(moduleId)

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))]
  }
}

export default defineConfig({
  plugins: [translateDashboard()],
  test: {
    // Two for each core: half of the time, tests wait for processes, databases and clocks.
    maxWorkers: 2 * availableParallelism(),
    // Files share the modules of their worker: loading and compiling them anew takes half of all CPU time. So a file
    // changes nothing global, and closes what it opens.
    isolate: false,
    // Workers live for the whole run, and what they allocate dies young: it is collected less often in a larger space.
    execArgv: ['--min-semi-space-size=32', '--max-semi-space-size=64'],
    ...patience,
    sequence: { sequencer: SlowFirst },
    // Of the tests that only wait and therefore run at the same time.
    maxConcurrency: 20,
    projects: [
      {
        extends: true,
        test: {
          name: 'pglite',
          include: [...databaseIndependent, ...onBothDatabases],
          exclude: separate,
          globalSetup: 'test/support/pglite.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: ['test/**/*.test.ts'],
          exclude: [...separate, ...databaseIndependent],
          globalSetup: 'test/support/postgres.ts',
        },
      },
    ],
  },
})
