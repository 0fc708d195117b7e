import { graphVersions } from '../graph-versions.ts'

/** Versions that were released earlier. */
const released = /^v(1\.0|2\.(\d|1[0-2])|3\.[0-3]|([4-9]|1\d|20)\.0)$/

/**
 * Returns the version that serves a request, or undefined for one that was never released. As in Meta's versioning
 * guide, an expired version is served by the oldest usable one, and a path without a version by the newest.
 */
export function servedVersion(requested: string | undefined, now: number): string | undefined {
  const usable = graphVersions.filter(({ until }) => until === undefined || Date.parse(until) > now)
  if (requested === undefined) return usable.at(-1)?.version
  const known = released.test(requested) || graphVersions.some(({ version }) => version === requested)
  if (!known) return undefined
  return usable.some(({ version }) => version === requested) ? requested : usable[0]?.version
}
