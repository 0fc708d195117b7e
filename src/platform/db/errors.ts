import { NotStartedError } from '../batch.ts'
import { codeOf } from '../error-code.ts'
import { findConnectProblem } from './connect/connect-failure.ts'
import { DatabasePasswordError } from './connect/passwords.ts'

/** PostgreSQL error classes for temporary failures: connection failures, out of resources, shutting down. */
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
/** Errors of `pg` that have no code. */
const unavailableMessages = [
  /^Connection terminated/,
  /^timeout exceeded when trying to connect/,
  /^timeout expired/,
  /^Query read timeout/,
  /^Client has encountered a connection error/,
  /^Client was closed and is not queryable/,
  /^Cannot use a pool after calling end/,
]

/** Invalid data, a violated constraint or a deadlock, which one item of a batch can cause. */
export function isItemError(error: unknown): boolean {
  return /^2[23]/.test(codeOf(error) ?? '') || isDeadlock(error)
}

/** Returns whether the server cancelled a statement that waited too long for a lock. The statement had no effect. */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === '55P03'
}

/** Returns whether the server cancelled a statement that ran too long, or that someone else ended. */
export function isCanceled(error: unknown): boolean {
  return codeOf(error) === '57014'
}

/** Returns whether the server cancelled a statement because it and another one waited for each other. */
export function isDeadlock(error: unknown): boolean {
  return codeOf(error) === '40P01'
}

/** Returns whether a statement would have stored a key twice. */
export function isUniqueViolation(error: unknown): boolean {
  return codeOf(error) === '23505'
}

/** Returns whether the disk of the database has no space left (`disk_full`). */
export function isDiskFull(error: unknown): boolean {
  return codeOf(error) === '53100'
}

/** Returns whether the server, or PgBouncer, closes the connection after this error, or accepts no more writes. */
export function isConnectionUseless(error: unknown): boolean {
  return /^57P0[1-5]$|^08P01$|^25006$/.test(codeOf(error) ?? '')
}

/** Returns whether a query failed because the database is unavailable, not because of the query itself. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = codeOf(error) ?? ''
  return (
    error instanceof NotStartedError ||
    error instanceof DatabasePasswordError ||
    findConnectProblem(error) !== undefined ||
    isLockTimeout(error) ||
    unavailableCodes.has(code) ||
    unavailableStates.some((state) => state.test(code)) ||
    unavailableMessages.some((message) => message.test(error.message)) ||
    (error instanceof AggregateError && error.errors.some(isDatabaseUnavailable)) ||
    isDatabaseUnavailable(error.cause)
  )
}

/**
 * Returns whether a failed statement may have taken effect, or may still do so, because the connection ended before the
 * response. A statement that never started or that the server cancelled has no effect.
 */
export function mayHaveCommitted(error: unknown): boolean {
  if (!isDatabaseUnavailable(error) || !(error instanceof Error)) return false
  const endedByServer = isCanceled(error) || isLockTimeout(error)
  return !endedByServer && !(error instanceof NotStartedError) && !noConnection.test(error.message)
}

/** The pool had no free connection. */
const noConnection = /^timeout exceeded when trying to connect/

/** A deadlock or a serialization failure. */
const transientStates = new Set(['40P01', '40001'])

/**
 * Returns whether the same query may succeed if it is retried: it conflicted with others, or the database is
 * unavailable.
 */
export function isTransient(error: unknown): boolean {
  return transientStates.has(codeOf(error) ?? '') || isDatabaseUnavailable(error)
}
