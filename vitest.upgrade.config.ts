import { defineConfig } from 'vitest/config'

/** An upgrade from the version before while it serves traffic, on PostgreSQL: `npm run test:upgrade`. */
export default defineConfig({
  test: {
    include: ['test/upgrade/*.test.ts'],
    globalSetup: 'test/upgrade/set-up.ts',
    testTimeout: 120_000,
    // Installs the packages of the version before, if they differ.
    hookTimeout: 300_000,
    expect: { poll: { timeout: 30_000 } },
    // Each test keeps the machine busy with the load of several clients.
    fileParallelism: false,
  },
})
