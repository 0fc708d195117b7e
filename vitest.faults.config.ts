import { defineConfig } from 'vitest/config'

/** What happens when processes are killed and databases go away: slow, so apart from `npm test`. */
export default defineConfig({
  test: {
    include: ['test/faults/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A busy machine starts processes slowly: vitest's own second is too short for them.
    expect: { poll: { timeout: 10_000 } },
    // The faults are real: two of them at once would be a third one.
    fileParallelism: false,
  },
})
