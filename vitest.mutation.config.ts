import { defineConfig } from 'vitest/config'
import { groupOf, testsOf } from './test/mutation/files.ts'

/** Set by `npm run test:mutation`, which runs the tests of one source file with each of its mutants. */
const mutated = process.env['MUTATED_FILE'] ?? ''

export default defineConfig({
  test: {
    include: testsOf(mutated),
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
    // Pure code needs no database, and so starts at once.
    ...(groupOf(mutated) === 'stores' && { globalSetup: 'test/support/pglite.ts' }),
  },
})
