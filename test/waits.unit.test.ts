import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

/**
 * A test waits for a condition, for as long as `patience.ts` allows. A bound or a pause of its own is a guess about the
 * machine: it fails where other programs run, and takes its time everywhere else.
 */
const guesses = {
  'a bound of its own for a wait':
    /\bpoll\([^\n]*\{[^{}\n]*\btimeout:|^\s+\{ timeout: [\d_]+.*\},?$|\bvi\.wait(?:For|Until)\(/m,
  'a bound of its own for a test':
    /^(?:\}| {2}\}), [\d_]+\)$|^\s*(?:\]\))?(?:test|beforeAll|afterAll)?\([^\n]*\{ timeout: [\d_]+ \}/m,
} as const

/** Where waiting is the subject, with the reason. */
const exceptions = new Set<string>([
  // Defines the bound.
  'test/support/eventually.ts',
  // Installs and runs the whole of `npm test` on another machine.
  'test/fresh/fresh.test.ts',
])

const root = path.resolve(import.meta.dirname, '..')
const files = globSync('test/**/*.ts', {
  cwd: root,
  exclude: ['test/{bench,chaos,gallery,generated-client}/**'],
}).filter((file) => !exceptions.has(file) && !file.includes('node_modules'))

test.each(Object.entries(guesses))('no test has %s', (_, guess) => {
  expect(files.filter((file) => guess.test(readFileSync(path.join(root, file), 'utf8')))).toEqual([])
})
