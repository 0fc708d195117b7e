import { classifyError, deniesAccess, type ErrorClass, isThrottling, isTransient } from '../error-codes.ts'
import type { WhatsAppError } from '../read-outcome.ts'
import { cutStorable } from '../wire-values.ts'
import type { Exchange } from './exchange.ts'
import { ErrorBody, type GraphError, parseJson, UncodedErrorBody } from './wire.ts'

export interface Refusal {
  errorClass: ErrorClass
  error: WhatsAppError
  deniesAccess: boolean
  /** Distinguishes errors that share a code, such as those about templates. */
  subcode?: number
}

type Answer = Extract<Exchange, { kind: 'answered' }>

/**
 * Returns undefined for a response that is not a Graph API error, for example a proxy's page. Gateways may pass on an
 * error with HTTP 200. HTTP 429 is throttling with any body. `secrets` are removed from the texts.
 */
export function readRefusal(answer: Answer, secrets: readonly string[]): Refusal | undefined {
  const { status, body, retryAfterSeconds } = answer
  if (isRedirect(status)) return undefined
  const error = findError(body === undefined ? undefined : parseJson(body), status)
  if (status === tooManyRequests && !(error && isThrottling(error.code))) return readThrottling(answer, secrets)
  if (!error) return undefined
  const { error_subcode: subcode } = error
  return {
    errorClass: withRetryAfter(classifyError(error, status), retryAfterSeconds),
    error: toWhatsAppError(error, secrets),
    deniesAccess: deniesAccess(error),
    ...(subcode !== undefined && { subcode }),
  }
}

/** The error in the body of a response. With HTTP 200, code 0 stands for none. */
export function findError(body: unknown, status: number): GraphError | undefined {
  const error = ErrorBody.safeParse(body).data?.error
  return status < 300 && error?.code === 0 ? undefined : error
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400
}

const tooManyRequests = 429

/**
 * A gateway that limits requests may write no code, or one of another meaning, whose advice would mislead. The code is then
 * its HTTP status: Meta has no code 429.
 */
function readThrottling({ body, retryAfterSeconds }: Answer, secrets: readonly string[]): Refusal {
  const title = readUncodedError(body, secrets) ?? 'Too Many Requests'
  return {
    errorClass: withRetryAfter(classifyError({ code: tooManyRequests }, tooManyRequests), retryAfterSeconds),
    error: { code: tooManyRequests, title },
    deniesAccess: false,
  }
}

/** The longer of the delay that a code is known to need and the one that the response requests. */
function withRetryAfter(errorClass: ErrorClass, requested: number | undefined): ErrorClass {
  if (errorClass.kind === 'unknown' || requested === undefined || !isTransient(errorClass)) return errorClass
  return { ...errorClass, retryAfterSeconds: Math.max(errorClass.retryAfterSeconds ?? 0, requested) }
}

/** Returns the text of an error object without a readable code. */
export function readUncodedError(body: string | undefined, secrets: readonly string[]): string | undefined {
  const parsed = UncodedErrorBody.safeParse(body === undefined ? undefined : parseJson(body))
  return parsed.success ? hideSecrets(parsed.data, secrets) : undefined
}

const maxTextLength = 500

/** Graph quotes a token that it cannot parse ("Malformed access token …"). */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  const shown = secrets
    .filter((secret) => secret !== '')
    .reduce((rest, secret) => rest.replaceAll(secret, '***'), text)
    .replace(/EAA\w{16,}/g, '***')
  return cutStorable(shown, maxTextLength)
}

function toWhatsAppError(error: GraphError, secrets: readonly string[]): WhatsAppError {
  const clean = (text: string) => hideSecrets(text, secrets)
  const details = detailsOf(error)
  return {
    code: error.code,
    title: clean(error.message.replace(/^\(#\d+\)\s*/, '')),
    ...(details === undefined ? {} : { details: clean(details) }),
  }
}

function detailsOf({ error_data, error_user_msg }: GraphError): string | undefined {
  return error_data || error_user_msg || undefined
}
