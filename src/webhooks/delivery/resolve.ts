import { lookup, Resolver } from 'node:dns/promises'

/** All addresses of a host; rejects when it has none. */
export type Resolve = (host: string) => Promise<readonly string[]>

/** One that does not answer is asked twice, and gives up well inside the deadline of an attempt. */
const queryMilliseconds = 2_000
const queryAttempts = 2
const keptMilliseconds = 10_000
const maxKept = 10_000

/**
 * Asks DNS itself: `getaddrinfo`, which most programs use, occupies one of two threads for each name
 * until it is answered, so that two names whose servers are silent would hold up all other endpoints.
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

/** As the machine does it, with its hosts file: for development. */
export const resolveAsTheMachine: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address)

/** Each name is asked for once at a time, and what came of it, good or bad, holds for a moment. */
export function rememberAnswers(resolve: Resolve, now: () => number = performance.now.bind(performance)): Resolve {
  const known = new Map<string, { until: number; addresses: Promise<readonly string[]> }>()
  return (host) => {
    const kept = known.get(host)
    if (kept && kept.until > now()) return kept.addresses
    if (known.size >= maxKept) known.clear()
    const entry = { until: Number.POSITIVE_INFINITY, addresses: resolve(host) }
    known.set(host, entry)
    const settle = () => (entry.until = now() + keptMilliseconds)
    entry.addresses.then(settle, settle)
    return entry.addresses
  }
}

/** Whether the name does not exist or has no address; other errors say that nobody could tell. */
export function isMissingName(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOTFOUND' || error.code === 'ENODATA')
}

export class UnresolvedError extends Error {
  readonly code: 'ENOTFOUND' | 'ESERVFAIL'
  constructor(code: 'ENOTFOUND' | 'ESERVFAIL') {
    super(code === 'ENOTFOUND' ? 'the name has no address' : 'no resolver could tell the address')
    this.name = 'UnresolvedError'
    this.code = code
  }
}
