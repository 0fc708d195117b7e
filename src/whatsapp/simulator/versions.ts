/** The versions of the Graph API that can be used, oldest first, and when each expires (reference, section 1). */
const usableVersions: readonly { version: string; until?: string }[] = [
  { version: 'v21.0', until: '2027-01-21' },
  { version: 'v22.0', until: '2027-05-20' },
  { version: 'v23.0', until: '2027-10-08' },
  { version: 'v24.0', until: '2028-02-18' },
  { version: 'v25.0', until: '2028-07-29' },
  { version: 'v26.0' },
]

/** Versions that were released earlier. */
const released = /^v(1\.0|2\.(\d|1[0-2])|3\.[0-3]|([4-9]|1\d|20)\.0)$/

/**
 * Returns the version that serves a request, or undefined for one that was never released. As in Meta's versioning
 * guide, an expired version is served by the oldest usable one, and a path without a version by the newest.
 */
export function servedVersion(requested: string | undefined, now: number): string | undefined {
  const usable = usableVersions.filter(({ until }) => until === undefined || Date.parse(until) > now)
  if (requested === undefined) return usable.at(-1)?.version
  const known = released.test(requested) || usableVersions.some(({ version }) => version === requested)
  if (!known) return undefined
  return usable.some(({ version }) => version === requested) ? requested : usable[0]?.version
}
