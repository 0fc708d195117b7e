import { TRPCClientError } from '@trpc/client'
import type { SettingsErrorCode, SettingsErrorData } from '../../../contracts/dashboard/errors.ts'
import { SignInError } from '../session/auth-request.ts'

/** What went wrong, as a person is told. */
export interface Failure {
  message: string
  /** Absent when no answer came, or none of ours. */
  code?: SettingsErrorCode
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

const unreachable = 'Could not reach the server. Check your connection and try again.'

function readData(error: unknown): SettingsErrorData | undefined {
  if (!(error instanceof TRPCClientError)) return undefined
  // Our server formats every error like this; absent when the answer was not from it.
  const data = error.data as Partial<SettingsErrorData> | null | undefined
  return data?.code === undefined ? undefined : (data as SettingsErrorData)
}

/** `must be digits only` becomes `Must be digits only.` */
function toSentence(problem: string): string {
  const start = problem.charAt(0).toUpperCase() + problem.slice(1)
  return /[.!?)]$/.test(start) ? start : `${start}.`
}

interface FormLike {
  getValues: () => object
  setErrors: (errors: Record<string, string>) => void
}

/**
 * Shows beside each field of a Mantine form what is wrong with it. Returns what belongs to no field, to be
 * shown above the form; undefined when every problem found its place.
 */
export function showInForm(form: FormLike, error: unknown): string | undefined {
  const { message, fields } = readFailure(error)
  const known = Object.entries(fields).filter(([name]) => (name.split('.')[0] ?? '') in form.getValues())
  form.setErrors(Object.fromEntries(known))
  return known.length > 0 && known.length === Object.keys(fields).length ? undefined : message
}
