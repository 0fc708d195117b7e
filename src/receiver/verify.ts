import { Webhook } from 'standardwebhooks'
import { parseEvent, type ReceivedEvent, WebhookVerificationError } from './event.ts'

export type Verify = (rawBody: string | Uint8Array, headers: WebhookHeaders) => ReceivedEvent

/**
 * Creates a function that verifies webhook requests and returns typed events (standardwebhooks.com). With several
 * secrets, for example during a rotation, one that matches is enough.
 */
export function createVerifier(secrets: string | readonly string[]): Verify {
  const webhooks = [secrets].flat().map(readSecret)
  if (webhooks.length === 0) throw new Error('At least one secret is required to verify webhooks.')
  return (rawBody, headers) => {
    const body = readBody(rawBody)
    const standard = readStandardHeaders(headers)
    checkSignature(webhooks, body, standard)
    return parseEvent(standard['webhook-id'], body)
  }
}

/**
 * Verifies one request and returns its typed event. Throws a `WebhookVerificationError` if the request was not sent by
 * Waybill, is older than five minutes or was changed.
 *
 * `rawBody` must be the body before any parser, because the signature covers its bytes.
 */
export function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
): ReceivedEvent {
  return createVerifier(secrets)(rawBody, headers)
}

/** The error message never contains the secret. */
function readSecret(secret: string): Webhook {
  try {
    return new Webhook(secret)
  } catch (error) {
    throw new TypeError('The webhook secret is invalid. Use the text that starts with whsec_, as shown by Waybill.', {
      cause: error,
    })
  }
}

/** Rejects invalid UTF-8, because replacement characters would change the bytes that the signature covers. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function readBody(rawBody: unknown): string {
  if (typeof rawBody === 'string') return rawBody
  if (!(rawBody instanceof Uint8Array))
    throw new TypeError('The raw body is required to verify a webhook: pass the text or the bytes, not a parsed value.')
  try {
    return utf8.decode(rawBody)
  } catch {
    throw new WebhookVerificationError('The body is not UTF-8')
  }
}

function readStandardHeaders(headers: WebhookHeaders) {
  return {
    'webhook-id': requireHeader(headers, 'webhook-id'),
    'webhook-timestamp': requireHeader(headers, 'webhook-timestamp'),
    'webhook-signature': requireHeader(headers, 'webhook-signature'),
  }
}

function requireHeader(headers: WebhookHeaders, name: string): string {
  const value = readHeader(headers, name)
  if (value === undefined || value === '') throw new WebhookVerificationError(`The header ${name} is missing`)
  return value
}

/** Throws the library's error for the last secret if none matches. */
function checkSignature(webhooks: Webhook[], body: string, headers: ReturnType<typeof readStandardHeaders>): void {
  let failure: unknown
  for (const webhook of webhooks) {
    try {
      // Parsing is disabled, because the library's own parsing throws other errors.
      webhook.verify(body, headers, { jsonParse: false })
      return
    } catch (error) {
      failure = error
    }
  }
  throw new WebhookVerificationError(failure instanceof Error ? failure.message : 'No matching signature found', {
    cause: failure,
  })
}

/** Request headers: a `Headers` object, or a record as in node:http. */
export type WebhookHeaders =
  | { get(name: string): string | null | undefined }
  | Readonly<Record<string, string | readonly string[] | undefined>>

function readHeader(headers: WebhookHeaders, name: string): string | undefined {
  if (isReader(headers)) return headers.get(name) ?? undefined
  const value = headers[name] ?? Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return typeof value === 'string' ? value : value?.[0]
}

function isReader(headers: WebhookHeaders): headers is Extract<WebhookHeaders, { get: unknown }> {
  return typeof headers['get'] === 'function'
}
