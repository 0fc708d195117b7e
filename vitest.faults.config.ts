import { defineConfig } from 'vitest/config'
import { patience } from './test/support/patience.ts'

/** What happens when processes are killed and databases go away: slow, so apart from `npm test`. */
export default defineConfig({
  test: {
    include: ['test/faults/**/*.test.ts'],
    ...patience,
    // The faults are real: two of them at once would be a third one.
    fileParallelism: false,
  },
})
