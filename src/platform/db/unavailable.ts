import { NotStartedError } from '../batch.ts'

/** PostgreSQL error classes that mean "not now": connection trouble, out of resources, shutting down. */
const unavailableStates = [/^08/, /^53/, /^57P0[1-5]$/, /^57014$/, /^58030$/, /^25006$/]
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

/** Whether the server ended a statement because a lock that it needs stayed taken: nothing of it happened. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '55P03'
}

/** Whether a query failed because the database is gone or going, rather than because of the query. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return (
    error instanceof NotStartedError ||
    isLockTimeout(error) ||
    unavailableCodes.has(code) ||
    unavailableStates.some((state) => state.test(code)) ||
    unavailableMessages.some((message) => message.test(error.message)) ||
    (error instanceof AggregateError && error.errors.some(isDatabaseUnavailable)) ||
    isDatabaseUnavailable(error.cause)
  )
}

/**
 * Whether a statement that failed so may have happened all the same, or may still happen: the connection
 * ended before its answer came. What never started, or was ended by the server, left nothing behind.
 */
export function isOutcomeUnknown(error: unknown): boolean {
  if (!isDatabaseUnavailable(error) || !(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  const endedByServer = code === '57014' || isLockTimeout(error)
  return !endedByServer && !(error instanceof NotStartedError) && !noConnection.test(error.message)
}

/** Of the pool: it had none to give. */
const noConnection = /^timeout exceeded when trying to connect/

/** A deadlock or a serialization failure. */
const passingStates = new Set(['40P01', '40001'])

/** Whether the same query may well succeed a moment later: others were in its way, or the database is away. */
export function isTransient(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return (typeof code === 'string' && passingStates.has(code)) || isDatabaseUnavailable(error)
}
