import { defineConfig } from 'vitest/config'
import { patience } from './test/support/patience.ts'
import { useMemoryDisk } from './test/support/memory-disk.ts'

useMemoryDisk()

/** On PGlite, these processes start a database each: they cost a third of the CPU time of all other tests. */
const onPGliteOnly = ['test/processes/{data-folder,sandbox,usage,webhook-embedded}.test.ts']
const onPostgresOnly = ['test/processes/{audit-commands,move,postgres,start,telemetry}.test.ts']

/** Commands and servers as processes of their own, as an operator starts them: `npm run test:processes`. */
export default defineConfig({
  test: {
    // Half of the time, they wait for their processes.
    maxWorkers: 4,
    isolate: false,
    ...patience,
    projects: [
      {
        extends: true,
        test: {
          name: 'pglite',
          include: ['test/processes/*.test.ts'],
          exclude: onPostgresOnly,
          globalSetup: 'test/support/pglite.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: ['test/processes/*.test.ts'],
          exclude: onPGliteOnly,
          globalSetup: 'test/support/postgres.ts',
        },
      },
    ],
  },
})
