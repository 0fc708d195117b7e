/** PostgreSQL error classes that mean "not now": connection trouble, out of resources, shutting down. */
const unavailableStates = [/^08/, /^53/, /^57P0[1-5]$/, /^57014$/, /^25006$/]
const unavailableCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])
/** `pg` gives these no code. */
const unavailableMessages = [
  /^Connection terminated/,
  /^timeout exceeded when trying to connect/,
  /^timeout expired/,
  /^Query read timeout/,
  /^Client has encountered a connection error/,
  /^Client was closed and is not queryable/,
  /^Cannot use a pool after calling end/,
]

/** Whether a query failed because the database is gone or going, rather than because of the query. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return (
    unavailableCodes.has(code) ||
    unavailableStates.some((state) => state.test(code)) ||
    unavailableMessages.some((message) => message.test(error.message)) ||
    (error instanceof AggregateError && error.errors.some(isDatabaseUnavailable)) ||
    isDatabaseUnavailable(error.cause)
  )
}

/** A deadlock, a serialization failure, a lock that was not to be had. */
const passingStates = new Set(['40P01', '40001', '55P03'])

/** Whether the same query may well succeed a moment later: others were in its way, or the database is away. */
export function isPassing(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return (typeof code === 'string' && passingStates.has(code)) || isDatabaseUnavailable(error)
}
