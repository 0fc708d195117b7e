import { defineConfig } from 'vitest/config'
import { useMemoryDisk } from './test/support/memory-disk.ts'

useMemoryDisk()

/** What is seen in a real browser. It needs Chromium, so it stands apart from `npm test`, which needs nothing. */
export default defineConfig({
  test: {
    include: ['test/browser/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A busy machine starts processes slowly: vitest's own second is too short for them.
    expect: { poll: { timeout: 10_000 } },
    globalSetup: 'test/support/pglite.ts',
  },
})
