import { defineConfig } from 'vitest/config'
import { useMemoryDisk } from './test/support/memory-disk.ts'

useMemoryDisk()

/** The pictures of the dashboard and its Lighthouse scores: `npm run gallery` and `npm run lighthouse`. It needs Chromium. */
export default defineConfig({
  test: {
    include: ['test/gallery/*.test.ts'],
    testTimeout: 1_800_000,
    hookTimeout: 600_000,
    globalSetup: 'test/support/pglite.ts',
  },
})
