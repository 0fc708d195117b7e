import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

/**
 * A test waits for a condition, for as long as `patience.ts` allows. A bound or a pause of its own, and a time that it
 * asserts, is a guess about the machine: it fails where other programs run. Each kind names the files that may have it.
 */
const guesses: readonly { what: string; pattern: RegExp; allowed: readonly string[] }[] = [
  {
    what: 'a bound of its own for a wait',
    pattern:
      /\bpoll\([^\n]*\{[^{}\n]*\btimeout:|\bwaitFor\(\{ timeout:|^\s+\{ timeout: [\d_]+.*\},?$|= \{ timeout: [\d_]+ \}$|\bvi\.wait(?:For|Until)\(/m,
    // It defines the bound.
    allowed: ['test/support/eventually.ts'],
  },
  {
    what: 'a bound of its own for a test',
    pattern:
      /^(?:\}| {2}\}), [\d_]+\)$|^\s*(?:\]\))?(?:test|beforeAll|afterAll)?\([^\n]*\{ timeout: [\d_]+ \}|\bsetConfig\(\{ (?:test|hook)Timeout/m,
    allowed: [],
  },
  {
    what: 'a pause',
    pattern:
      /\bnew Promise(?:<[^>]*>)?\(\(?resolve\)? => setTimeout\(|\bpg_sleep\(|\bsetTimeout as \w+ \} from 'node:timers\/promises'/,
    allowed: [
      // Its clock is fake.
      'test/pipeline/read-limiter.test.ts',
      // Whether a timer fires is the subject.
      'test/platform/db/embedded/embedded.pglite.test.ts',
      // What the server allocates while nothing is sent is measured.
      'test/messages/send/cost.test.ts',
      // Timeouts of PostgreSQL are the subject: nothing may happen before they have passed.
      'test/platform/db/database.databases.test.ts',
      'test/platform/db/managed.test.ts',
      'test/platform/db/migrate/migrate.databases.test.ts',
      'test/platform/db/session.test.ts',
      'test/upgrade/migrations.test.ts',
      // It ends when its process does.
      'test/package/server.ts',
      // They watch processes of others, in campaigns without Vitest too.
      'test/cluster/cluster.test.ts',
      'test/cluster/cluster.ts',
      'test/support/signal-tree.ts',
      // Clients pause between their sends.
      'test/faults/failover.test.ts',
      'test/upgrade/traffic.ts',
    ],
  },
  {
    what: 'an assertion about elapsed time',
    pattern:
      /\bexpect\((?:Math\.abs\()?\(*(?:Date|performance)\.now\(\) - [^\n]*\.toBeLess|\w*[mM]illiseconds\)\.toBeLess/,
    // CPU time of the attacked process, with a tenfold margin.
    allowed: ['test/faults/callback-attack.test.ts'],
  },
]

const root = path.resolve(import.meta.dirname, '..')
const files = globSync('test/**/*.ts', {
  cwd: root,
  exclude: ['test/{bench,chaos,gallery,generated-client}/**'],
}).filter((file) => !file.includes('node_modules'))

test.each(guesses)('only listed files have $what', ({ pattern, allowed }) => {
  const found = files.filter((file) => pattern.test(readFileSync(path.join(root, file), 'utf8')))

  expect(found.filter((file) => !allowed.includes(file))).toEqual([])
  expect(allowed.filter((file) => !found.includes(file))).toEqual([])
})
