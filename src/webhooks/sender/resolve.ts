import { lookup, Resolver } from 'node:dns/promises'
import { BoundedMap } from '../../platform/bounded-map.ts'

/** Resolves a host to all of its addresses; rejects if it has none. */
export type Resolve = (host: string) => Promise<readonly string[]>

/** Each query is tried twice, which still ends well within the deadline of an attempt. */
const queryMilliseconds = 2_000
const queryAttempts = 2
const keptMilliseconds = 10_000
const maxKept = 10_000

/**
 * Queries DNS directly. `getaddrinfo` blocks a thread of a small pool until it is answered, so a few names with
 * unresponsive servers would block all other endpoints.
 */
export function createDnsResolve(): Resolve {
  const resolver = new Resolver({ timeout: queryMilliseconds, tries: queryAttempts })
  return async (host) => {
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (addresses.length > 0) return addresses
    const unanswered = answers.some((answer) => answer.status === 'rejected' && !isMissingName(answer.reason))
    throw new UnresolvedError(unanswered ? 'ESERVFAIL' : 'ENOTFOUND')
  }
}

/** Resolves like the operating system, including its hosts file. For development. */
export const resolveAsTheMachine: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address)

/** Shares concurrent queries for a name and caches results and errors for a short time. */
export function cacheAnswers(resolve: Resolve, now: () => number = performance.now.bind(performance)): Resolve {
  const known = new BoundedMap<string, { until: number; addresses: Promise<readonly string[]> }>(maxKept)
  return (host) => {
    const kept = known.get(host)
    if (kept && kept.until > now()) return kept.addresses
    const entry = { until: Number.POSITIVE_INFINITY, addresses: resolve(host) }
    known.set(host, entry)
    const settle = () => (entry.until = now() + keptMilliseconds)
    entry.addresses.then(settle, settle)
    return entry.addresses
  }
}

/** Returns whether the name does not exist or has no address. Other errors mean that the lookup itself failed. */
export function isMissingName(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOTFOUND' || error.code === 'ENODATA')
}

class UnresolvedError extends Error {
  readonly code: 'ENOTFOUND' | 'ESERVFAIL'
  constructor(code: 'ENOTFOUND' | 'ESERVFAIL') {
    super(code === 'ENOTFOUND' ? 'the name has no address' : 'the DNS lookup failed')
    this.name = 'UnresolvedError'
    this.code = code
  }
}
