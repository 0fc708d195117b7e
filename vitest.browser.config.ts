import { defineConfig } from 'vitest/config'
import { patience } from './test/support/patience.ts'
import { translateDashboard } from './src/packaging/translate-dashboard.ts'
import { useMemoryDisk } from './test/support/memory-disk.ts'

useMemoryDisk()

/** What is seen in a real browser. It needs Chromium, so it stands apart from `npm test`, which needs nothing. */
export default defineConfig({
  plugins: [translateDashboard()],
  test: {
    include: ['test/browser/**/*.test.ts'],
    // All cores: vitest by itself leaves one free, and a browser that loads a page leaves half of another.
    maxWorkers: '100%',
    ...patience,
    // PGlite would take its turns with the server in the test's own process.
    globalSetup: 'test/support/postgres.ts',
  },
})
