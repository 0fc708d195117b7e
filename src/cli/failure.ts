import { ServiceError } from '../../contracts/errors.ts'
import { ConfigError } from '../platform/config.ts'
import { findConnectProblem } from '../platform/db/connect/connect-failure.ts'
import { DatabasePasswordError } from '../platform/db/connect/passwords.ts'
import { DatabaseSettingError, PoolerError } from '../platform/db/connect/session.ts'
import { isCanceled, isDatabaseUnavailable, isDiskFull, isLockTimeout } from '../platform/db/errors.ts'
import { codeOf } from '../platform/error-code.ts'
import { maskPersonalData } from '../platform/log.ts'
import { UnknownSecretKeyError } from '../platform/secrets.ts'
import { capitalize } from '../platform/text.ts'
import { OutputError } from './output.ts'

/** A failed command, as text for standard error and an exit code. */
export interface Failure {
  error: string
  exitCode: number
}

/** A failure that the running server has already described. */
export class ReportedError extends Error {
  readonly exitCode: number

  constructor({ error, exitCode }: Failure) {
    super(error)
    this.name = 'ReportedError'
    this.exitCode = exitCode
  }
}

export function describeFailure(error: unknown): Failure {
  if (error instanceof ReportedError) return { error: error.message, exitCode: error.exitCode }
  return { error: describe(error), exitCode: error instanceof UsageError ? 2 : 1 }
}

function describe(error: unknown): string {
  if (error instanceof ServiceError) return [error.message, error.remedy].filter(Boolean).join(' ')
  if (error instanceof UsageError || error instanceof OutputError) return error.message
  if (error instanceof PoolerError || error instanceof DatabaseSettingError) return error.message
  if (error instanceof ConfigError) return `The configuration is wrong:\n${error.message}`
  if (error instanceof UnknownSecretKeyError) return `${capitalize(error.message)}.`
  if (isLockTimeout(error))
    return 'The operation needs a row or table that another transaction has locked. Try again in a moment.'
  if (error instanceof DatabasePasswordError) return `There is no password for the database: ${error.message}.`
  const problem = findConnectProblem(error)
  if (problem) return `The database cannot be used: ${problem.message}. ${problem.fix}`
  if (isCanceled(error))
    return 'The database canceled a statement that took too long (DATABASE_STATEMENT_TIMEOUT). Try again when the machine is less busy.'
  if (isDiskFull(error)) return 'The disk of the database is full. Free some space, and try again.'
  if (isDatabaseUnavailable(error))
    return 'The database cannot be reached. Check DATABASE_URL and that the database is running.'
  const remedy = diskRemedies[codeOf(error) ?? '']
  if (remedy !== undefined && error instanceof Error) return `${error.message}. ${remedy}`
  // Only the message, because the `detail` of a database error can contain user data.
  const message = error instanceof Error ? maskPersonalData(error.message) : typeof error
  return `Unexpected error: ${message} (set LOG_LEVEL=debug for the stack trace)`
}

const noAccess =
  'Give the user who runs Waybill access, or choose another place: WAYBILL_DATA_DIR names the data folder.'
const notAFolder = 'There is a file where a folder is needed: WAYBILL_DATA_DIR names the data folder.'

/** By the code of Node, whose message names the operation and, if it has one, the file. */
const diskRemedies: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full: free some space, and try again.',
  EDQUOT: 'The disk quota is used up: free some space or raise the quota, and try again.',
  EACCES: noAccess,
  EPERM: noAccess,
  EEXIST: notAFolder,
  ENOTDIR: notAFolder,
  EROFS: 'The file system is read-only: make it writable, or set WAYBILL_DATA_DIR to a folder on another one.',
}

/** A usage error: exit code 2, followed by the usage of the command. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}

const { npm_package_name: packageName, npm_lifecycle_event: script = '' } = process.env

/**
 * How to run a command that we suggest: a clone has an npm script, and no `waybill` on the PATH. A running server, such
 * as the sandbox, answers for the commands of other processes.
 */
export const waybill =
  packageName === 'waybill' && ['start', 'waybill'].includes(script) ? 'npm run waybill --' : 'waybill'
