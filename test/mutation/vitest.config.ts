import path from 'node:path'
import { defineConfig } from 'vitest/config'
import { groupOf, testsOf } from './files.ts'

/** Set by `npm run test:mutation`, which runs the tests of one source file with each of its mutants. */
const mutated = process.env['MUTATED_FILE'] ?? ''

const databases = { pure: undefined, stores: 'pglite', 'postgres-stores': 'postgres' } as const
const database = databases[groupOf(mutated) ?? 'pure']

export default defineConfig({
  root: path.resolve(import.meta.dirname, '../..'),
  test: {
    include: testsOf(mutated),
    // Tests of mutants often wait for what never comes. They give up before Stryker would, which starts a new process.
    testTimeout: database ? 20_000 : 4_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 5_000 } },
    // Pure code needs no database, and so starts at once.
    ...(database && { globalSetup: `test/support/${database}.ts` }),
  },
})
