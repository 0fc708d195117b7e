import { defineConfig } from 'vitest/config'
import { patience } from './test/support/patience.ts'

/** An upgrade from the version before while it serves traffic, on PostgreSQL: `npm run test:upgrade`. */
export default defineConfig({
  test: {
    include: ['test/upgrade/*.test.ts'],
    globalSetup: 'test/upgrade/set-up.ts',
    ...patience,
    // Installs the packages of the version before, if they differ.
    hookTimeout: 300_000,
    // Each test keeps the machine busy with the load of several clients.
    fileParallelism: false,
  },
})
