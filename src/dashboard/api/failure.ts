import { t } from '@lingui/core/macro'
import { TRPCClientError } from '@trpc/client'
import type { DashboardErrorData, ErrorCode } from '../../../contracts/errors.ts'
// Errors name these facts, so their texts must be registered.
import '../../../contracts/facts/recipients.ts'
import { sayFact, toSentence } from '../language/facts.ts'
import { SignInError } from '../session/auth-request.ts'

/** An error as it is shown to the user. */
export interface Failure {
  message: string
  /** Absent if there was no response, or one from another server. */
  code?: ErrorCode
  /** Problems by dotted field name. */
  fields: Readonly<Record<string, string>>
}

export function readFailure(error: unknown): Failure {
  if (error instanceof SignInError)
    return { message: error.message, fields: error.field === undefined ? {} : { [error.field]: error.message } }
  if (error instanceof UploadError)
    return {
      message: error.message,
      fields: {},
      ...(error.code !== undefined && { code: error.code }),
    }
  const data = readData(error)
  if (!data || !(error instanceof Error))
    return { message: t`Could not reach the server. Check your connection and try again.`, fields: {} }
  const fields = Object.entries(data.fields ?? {}).map(
    ([name, problem]) => [name, toSentence(sayFact(data.facts?.[name], problem))] as const,
  )
  return { message: sayFact(data.fact, error.message), code: data.code, fields: Object.fromEntries(fields) }
}

/** Retryable: no response, a server error or a rate limit. Any other 4xx would fail again. */
export function isRetryable(error: unknown): boolean {
  const status = readData(error)?.httpStatus
  return status === undefined || status >= 500 || status === 429
}

function readData(error: unknown): DashboardErrorData | undefined {
  if (!(error instanceof TRPCClientError)) return undefined
  // Absent if the response came from another server, such as a proxy.
  const data = error.data as Partial<DashboardErrorData> | null | undefined
  return data?.code === undefined ? undefined : (data as DashboardErrorData)
}

export interface FormLike {
  getValues: () => object
  setErrors: (errors: Record<string, string>) => void
}

/**
 * Shows field errors in a Mantine form. Returns the message to show above the form, or undefined if all
 * problems belong to fields.
 */
export function showInForm(form: FormLike, error: unknown): string | undefined {
  const { message, fields } = readFailure(error)
  const known = Object.entries(fields).filter(([name]) => (name.split('.')[0] ?? '') in form.getValues())
  form.setErrors(Object.fromEntries(known))
  return known.length > 0 && known.length === Object.keys(fields).length ? undefined : message
}

/** An upload error with a message for the user. */
export class UploadError extends Error {
  readonly code: ErrorCode | undefined

  constructor(message: string, code?: ErrorCode) {
    super(message)
    this.name = 'UploadError'
    this.code = code
  }
}
