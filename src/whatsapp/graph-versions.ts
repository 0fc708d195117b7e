/** The versions of the Graph API that can be used, oldest first, and when each expires (autumn reference, section 7). */
export const graphVersions: readonly { version: string; until?: string }[] = [
  { version: 'v21.0', until: '2027-01-21' },
  { version: 'v22.0', until: '2027-05-20' },
  { version: 'v23.0', until: '2027-10-08' },
  { version: 'v24.0', until: '2028-02-18' },
  { version: 'v25.0', until: '2028-07-29' },
  { version: 'v26.0' },
]

/** Has no end yet. */
export const newestVersion = 'v26.0'

/** The day on which WhatsApp stops serving the version; undefined if none is known. */
export function findVersionEnd(version: string): string | undefined {
  const known = graphVersions.find((one) => one.version === version)
  if (known) return known.until
  const isOlder = Number(version.slice(1)) < Number(graphVersions[0]?.version.slice(1))
  return isOlder ? lastEnd : undefined
}

/** The end of v20.0, the last version that ended before the listed ones. */
const lastEnd = '2026-09-24'
