import { TRPCClientError } from '@trpc/client'
import type { ErrorCode, DashboardErrorData } from '../../../contracts/errors.ts'
import { SignInError } from './sign-in-error.ts'

/** What went wrong, as a person is told. */
export interface Failure {
  message: string
  /** Absent when no answer came, or none of ours. */
  code?: ErrorCode
  /** What is wrong with each field, by its dotted name. */
  fields: Readonly<Record<string, string>>
}

export function readFailure(error: unknown): Failure {
  if (error instanceof SignInError)
    return { message: error.message, fields: error.field === undefined ? {} : { [error.field]: error.message } }
  const data = readData(error)
  if (!data || !(error instanceof Error)) return { message: unreachable, fields: {} }
  const fields = Object.entries(data.fields ?? {}).map(([name, problem]) => [name, toSentence(problem)])
  return { message: error.message, code: data.code, fields: Object.fromEntries(fields) }
}

/** A 4xx answers the same again; a second try helps only where no answer came or the server failed. */
export function isWorthRetrying(error: unknown): boolean {
  const status = readData(error)?.httpStatus
  return status === undefined || status >= 500
}

const unreachable = 'The server could not be reached. Check your connection, then try again.'

function readData(error: unknown): DashboardErrorData | undefined {
  if (!(error instanceof TRPCClientError)) return undefined
  // Our server formats every error like this; absent when the answer was not from it.
  const data = error.data as Partial<DashboardErrorData> | null | undefined
  return data?.code === undefined ? undefined : (data as DashboardErrorData)
}

/** `must be digits only` becomes `Must be digits only.` */
function toSentence(problem: string): string {
  const start = problem.charAt(0).toUpperCase() + problem.slice(1)
  return /[.!?)]$/.test(start) ? start : `${start}.`
}
