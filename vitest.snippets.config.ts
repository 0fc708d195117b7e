import { defineConfig } from 'vitest/config'
import { patience } from './test/support/patience.ts'

/** The code of the guides, run in its own language. It asks PyPI and the Go module proxy, so it stands apart. */
export default defineConfig({
  test: {
    include: ['test/snippets/**/*.test.ts'],
    ...patience,
    // Compilers and interpreters mostly wait for one core.
    maxConcurrency: 2,
    globalSetup: 'test/support/pglite.ts',
  },
})
