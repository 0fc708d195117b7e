import { lookup, Resolver } from 'node:dns/promises'
import { BoundedMap } from '../../platform/bounded-map.ts'
import { codeOf } from '../../platform/error-code.ts'

/** Resolves a host to all of its addresses; rejects if it has none. */
export type Resolve = (host: string) => Promise<readonly string[]>

/** Two attempts per query, which end well before the timeout of a delivery attempt. */
const queryTimeoutMilliseconds = 2_000
const queryAttempts = 2
const cacheMilliseconds = 10_000
const maxCached = 10_000

/**
 * Queries DNS directly. `getaddrinfo` blocks a thread of a small pool until it gets a response, so a few names with
 * unresponsive name servers would block all other endpoints.
 */
export function createDnsResolve(): Resolve {
  const resolver = new Resolver({ timeout: queryTimeoutMilliseconds, tries: queryAttempts })
  return async (host) => {
    const results = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const addresses = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
    if (addresses.length > 0) return addresses
    const lookupFailed = results.some((result) => result.status === 'rejected' && !isMissingName(result.reason))
    throw new UnresolvedError(lookupFailed ? 'ESERVFAIL' : 'ENOTFOUND')
  }
}

/** Resolves like the operating system, including its hosts file. For development. */
export const resolveWithSystem: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address)

/** Shares concurrent queries for a name and caches results and errors for a short time. */
export function cacheLookups(resolve: Resolve, now: () => number = performance.now.bind(performance)): Resolve {
  const cache = new BoundedMap<string, { expiresAt: number; addresses: Promise<readonly string[]> }>(maxCached)
  return (host) => {
    const cached = cache.get(host)
    if (cached && cached.expiresAt > now()) return cached.addresses
    const entry = { expiresAt: Number.POSITIVE_INFINITY, addresses: resolve(host) }
    cache.set(host, entry)
    const settle = () => (entry.expiresAt = now() + cacheMilliseconds)
    entry.addresses.then(settle, settle)
    return entry.addresses
  }
}

/** Returns whether the name does not exist or has no address. Other errors mean that the lookup itself failed. */
export function isMissingName(error: unknown): boolean {
  return ['ENOTFOUND', 'ENODATA'].includes(codeOf(error) ?? '')
}

class UnresolvedError extends Error {
  readonly code: 'ENOTFOUND' | 'ESERVFAIL'
  constructor(code: 'ENOTFOUND' | 'ESERVFAIL') {
    super(code === 'ENOTFOUND' ? 'the name has no address' : 'the DNS lookup failed')
    this.name = 'UnresolvedError'
    this.code = code
  }
}
