import { classify, deniesAccess, type Verdict } from '../error-codes.ts'
import type { WhatsAppError } from '../read-outcome.ts'
import { ErrorBody, type GraphError, parseJson } from './wire.ts'

export interface Refusal {
  verdict: Verdict
  error: WhatsAppError
  deniesAccess: boolean
  /** Distinguishes errors that share a code, such as those about templates. */
  subcode?: number
}

/**
 * Returns undefined for a body that is not a Graph API error, for example a proxy's page. `secrets` are removed from the
 * texts.
 */
export function readRefusal(status: number, body: string | undefined, secrets: readonly string[]): Refusal | undefined {
  const parsed = ErrorBody.safeParse(body === undefined ? undefined : parseJson(body))
  if (!parsed.success) return undefined
  const { error } = parsed.data
  const { error_subcode: subcode } = error
  return {
    verdict: classify(error, status),
    error: toWhatsAppError(error, secrets),
    deniesAccess: deniesAccess(error),
    ...(subcode !== undefined && { subcode }),
  }
}

const maxTextLength = 500

/** Graph quotes a token that it cannot parse ("Malformed access token …"). */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret !== '')
    .reduce((rest, secret) => rest.replaceAll(secret, '***'), text)
    .replace(/EAA\w{16,}/g, '***')
    .slice(0, maxTextLength)
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
  return (typeof error_data === 'string' ? error_data : error_data?.details) ?? error_user_msg
}
