import { defineConfig } from 'vitest/config'

/** The code of the guides, run in its own language. It asks PyPI and the Go module proxy, so it stands apart. */
export default defineConfig({
  test: {
    include: ['test/snippets/**/*.test.ts'],
    // Compilers take long where other tests run beside them.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Compilers and interpreters mostly wait for one core.
    maxConcurrency: 2,
    expect: { poll: { timeout: 60_000 } },
    globalSetup: 'test/support/pglite.ts',
  },
})
