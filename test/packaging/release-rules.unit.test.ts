import { expect, test } from 'vitest'
import { dateChangelog, findReleaseProblems, type ReleaseFacts } from '../../src/packaging/release-rules.ts'

const ready: ReleaseFacts = {
  version: '0.2.0',
  clientVersion: '0.2.0',
  documentedVersion: '0.2.0',
  changedFiles: '',
  existingTag: '',
  changelog: '# Changelog\n\n## Unreleased\n\n- Sends are faster.\n\n## 0.1.0 (2026-11-20)\n\nFirst release.\n',
}

test('a clean tree with a new version and changelog entries can be released', () => {
  expect(findReleaseProblems(ready)).toEqual([])
})

test.each<{ change: Partial<ReleaseFacts>; problem: RegExp }>([
  { change: { changedFiles: ' M src/app.ts' }, problem: /Commit or stash them:\n M src\/app\.ts/ },
  { change: { existingTag: 'v0.2.0' }, problem: /The tag v0\.2\.0 exists/ },
  { change: { clientVersion: '0.1.0' }, problem: /waybill-client has version 0\.1\.0, waybill 0\.2\.0/ },
  { change: { documentedVersion: '0.1.0' }, problem: /Write it: npm run openapi/ },
  { change: { changelog: '# Changelog\n\n## Unreleased\n\n## 0.1.0\n\nFirst.\n' }, problem: /no entries under/ },
  { change: { changelog: '# Changelog\n\n## 0.1.0\n\nFirst.\n' }, problem: /no entries under/ },
  { change: { changelog: '# Changelog\n\n## Unreleased\n' }, problem: /no entries under/ },
])('$change prevents a release', ({ change, problem }) => {
  expect(findReleaseProblems({ ...ready, ...change })).toEqual([expect.stringMatching(problem)])
})

test('a release gives the unreleased entries a version and a date, and keeps the others', () => {
  expect(dateChangelog(ready.changelog, '0.2.0', '2026-11-25')).toBe(
    '# Changelog\n\n## 0.2.0 (2026-11-25)\n\n- Sends are faster.\n\n## 0.1.0 (2026-11-20)\n\nFirst release.\n',
  )
})
