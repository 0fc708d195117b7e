import { defineConfig } from 'vitest/config'

/** What is installed elsewhere, installed: the package and the container image. It asks the npm registry, and takes a minute. */
export default defineConfig({
  test: {
    include: ['test/package/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 300_000,
    // A busy machine starts processes slowly: vitest's own second is too short for them.
    expect: { poll: { timeout: 10_000 } },
    // Each of them installs.
    fileParallelism: false,
  },
})
