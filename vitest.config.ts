import { availableParallelism } from 'node:os'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { translateDashboard } from './src/packaging/translate-dashboard.ts'
import { patience } from './test/support/patience.ts'

/*
 * The name of a test file says what kind of test it is, and so which project runs it:
 *
 * - `x.unit.test.ts` needs no database.
 * - `x.test.ts` runs on PostgreSQL.
 * - `x.databases.test.ts` runs on PostgreSQL and on PGlite, because it can fail on one of them only: stores, migrations,
 *   the queue, idempotency, and one file of each interface.
 * - `x.pglite.test.ts` is about the embedded database.
 *
 * Tests that start or kill processes, install, or need a browser or compilers are in folders of their own.
 */
const unit = 'test/**/*.unit.test.ts'
const onBothDatabases = '*.databases.test.ts'
const onPGlite = '*.pglite.test.ts'
const folders = [
  'browser',
  'clients',
  'cluster',
  'deploy',
  'faults',
  'fresh',
  'gallery',
  'package',
  'processes',
  'snippets',
  'upgrade',
]
const inFolders = `test/{${folders.join(',')}}/**`

/** Comes before the databases, so that they are created in memory. */
const inMemory = 'test/support/memory-disk.ts'
const pglite = 'test/support/pglite.ts'
const postgres = 'test/support/postgres.ts'

type Options = NonNullable<TestProjectInlineConfiguration['test']>

/** Projects of the same group run at the same time, and must have the same number of workers. */
function project(name: string, groupOrder: number, options: Options): TestProjectInlineConfiguration {
  return { extends: true, test: { name, ...options, sequence: { groupOrder } } }
}

/** `npm test`. */
const suite: Options = {
  // Two for each core: half of the time, tests wait for processes, databases and clocks.
  maxWorkers: 2 * availableParallelism(),
  // Files share the modules of their worker: loading and compiling them anew takes half of all CPU time. So a file changes
  // nothing global, and closes what it opens.
  isolate: false,
  // Workers live for the whole run, and what they allocate dies young: it is collected less often in a larger space.
  execArgv: ['--min-semi-space-size=32', '--max-semi-space-size=64'],
  // Of the tests that only wait and therefore run at the same time.
  maxConcurrency: 20,
}

/** Half of the time, these tests wait for their processes. */
const processes: Options = { maxWorkers: 4, isolate: false }

/** Files with tests that wait for ten seconds and more. Begun last, one would keep a worker busy after all others. */
const slow =
  /\/(?:cost|fairness|locks|samples|upload|endpoint-limits|managed|embedded)\.(?:(?:databases|pglite)\.)?test\.ts$/

const isSlow = ({ moduleId }: TestSpecification) => slow.test(moduleId)

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    // A worker ends with the last file of its project, so the files of a project stay together.
    const projects = Map.groupBy(sorted, ({ project }) => project).values()
    return [...projects].flatMap((own) => [...own.filter(isSlow), ...own.filter((file) => !isSlow(file))])
  }
}

export default defineConfig({
  plugins: [translateDashboard()],
  test: {
    ...patience,
    setupFiles: 'test/support/http-client.ts',
    sequence: { sequencer: SlowFirst },
    projects: [
      project('unit', 0, { ...suite, include: [unit] }),
      project('pglite', 0, {
        ...suite,
        include: [`test/**/${onBothDatabases}`, `test/**/${onPGlite}`],
        exclude: [inFolders],
        globalSetup: [inMemory, pglite],
      }),
      project('postgres', 0, {
        ...suite,
        include: ['test/**/*.test.ts'],
        exclude: [inFolders, unit, `test/**/${onPGlite}`],
        globalSetup: [inMemory, postgres],
      }),
      // On PGlite, these processes start a database each: they take a third of the CPU time of all other tests.
      project('processes-pglite', 1, {
        ...processes,
        include: [`test/processes/${onBothDatabases}`, `test/processes/${onPGlite}`],
        globalSetup: [inMemory, pglite],
      }),
      project('processes-postgres', 1, {
        ...processes,
        include: ['test/processes/*.test.ts'],
        exclude: [`test/processes/${onPGlite}`],
        globalSetup: [inMemory, postgres],
      }),
      project('browser', 2, {
        isolate: false,
        include: ['test/browser/**/*.test.ts'],
        // All cores: vitest by itself leaves one free, and a browser that loads a page leaves half of another.
        maxWorkers: '100%',
        // PGlite would take its turns with the server in the test's own process.
        globalSetup: [inMemory, postgres],
      }),
      // The faults are real: two of them at the same time would be a third one.
      project('faults', 3, { include: ['test/faults/**/*.test.ts'], fileParallelism: false }),
      project('upgrade', 4, {
        include: ['test/upgrade/*.test.ts'],
        globalSetup: 'test/upgrade/set-up.ts',
        // Installs the packages of the version before, if they differ.
        hookTimeout: 300_000,
        // Each test keeps the machine busy with the load of several clients.
        fileParallelism: false,
      }),
      // Each file installs the package.
      project('package', 5, { include: ['test/package/**/*.test.ts'], hookTimeout: 900_000, fileParallelism: false }),
      project('snippets', 6, {
        include: ['test/snippets/**/*.test.ts'],
        // Compilers and interpreters mostly wait for one core.
        maxConcurrency: 2,
        globalSetup: pglite,
      }),
      project('clients', 7, {
        include: ['test/clients/**/*.test.ts'],
        // The first run downloads and compiles what the clients depend on.
        testTimeout: 900_000,
        hookTimeout: 900_000,
        // Generators and compilers use more than one core where they can.
        maxConcurrency: 2,
        // Schemathesis runs beside the clients: it takes the same time however busy the machine is.
        maxWorkers: 2,
        globalSetup: pglite,
      }),
      project('cluster', 8, { include: ['test/cluster/**/*.test.ts'], testTimeout: 900_000 }),
      // Builds Helm and Kustomize first.
      project('deploy', 8, { include: ['test/deploy/**/*.test.ts'], hookTimeout: 1_800_000 }),
      project('fresh', 8, {
        include: ['test/fresh/**/*.test.ts'],
        testTimeout: 300_000,
        hookTimeout: 300_000,
        expect: { poll: { timeout: 200_000 } },
      }),
      project('gallery', 8, {
        include: ['test/gallery/*.test.ts'],
        testTimeout: 1_800_000,
        hookTimeout: 600_000,
        globalSetup: [inMemory, pglite],
      }),
    ],
  },
})
