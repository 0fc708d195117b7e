import { defineConfig } from 'vitest/config'

/**
 * The whole suite runs twice, on each database that Waybill runs on; what never opens one runs once.
 * Apart stand those that kill processes, install, or need a browser: `npm run test:faults`, `test:package`, `test:browser`.
 */
const apart = ['test/faults/**', 'test/package/**', 'test/browser/**']
const databaseFree = ['test/contracts/**', 'test/whatsapp/**', 'test/packaging/**', 'test/chaos/**']

export default defineConfig({
  test: {
    // All cores: vitest by itself leaves one free, and most tests wait for processes and databases.
    maxWorkers: '100%',
    testTimeout: 20_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'pglite',
          include: ['test/**/*.test.ts'],
          exclude: apart,
          globalSetup: 'test/support/pglite.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: ['test/**/*.test.ts'],
          exclude: [...apart, ...databaseFree],
          globalSetup: 'test/support/postgres.ts',
        },
      },
    ],
  },
})
