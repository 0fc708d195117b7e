export interface ReleaseFacts {
  version: string
  clientVersion: string
  documentedVersion: string
  /** The output of `git status --porcelain`. */
  changedFiles: string
  /** The tag of the version, or empty. */
  existingTag: string
  changelog: string
}

const unreleased = /^## Unreleased\n([\s\S]*?)(?=^## |(?![\s\S]))/m

/** Returns everything that prevents a release, each with how to fix it. */
export function findReleaseProblems(facts: ReleaseFacts): string[] {
  const { version, clientVersion, documentedVersion, changedFiles, existingTag, changelog } = facts
  const entries = unreleased.exec(changelog)?.[1]?.trim() ?? ''
  return [
    changedFiles !== '' && `The working tree has changes. Commit or stash them:\n${changedFiles}`,
    existingTag !== '' &&
      `The tag ${existingTag} exists. Set a new version in package.json and src/client/package.json.`,
    clientVersion !== version &&
      `waybill-client has version ${clientVersion}, waybill ${version}. Set the same version in src/client/package.json.`,
    documentedVersion !== version &&
      `openapi.json describes version ${documentedVersion} instead of ${version}. Write it: npm run openapi`,
    entries === '' && 'CHANGELOG.md has no entries under "## Unreleased". Describe what the release changes.',
  ].filter((problem) => problem !== false)
}

/** Gives the unreleased entries their version and date. */
export function dateChangelog(changelog: string, version: string, date: string): string {
  return changelog.replace('## Unreleased\n', () => `## ${version} (${date})\n`)
}
