import { Webhook } from 'standardwebhooks'
import { parseEvent, type ReceivedEvent, WebhookVerificationError } from './event.ts'

export type Verify = (rawBody: string | Uint8Array, headers: WebhookHeaders) => ReceivedEvent

/**
 * Checks that Waybill sent this request just now, and types what it says (standardwebhooks.com). With
 * several secrets, such as the old and the new one during a rotation, one that fits is enough.
 */
export function createVerifier(secrets: string | readonly string[]): Verify {
  const webhooks = [secrets].flat().map(readSecret)
  if (webhooks.length === 0) throw new Error('There is no secret to verify webhooks with.')
  return (rawBody, headers) => {
    const body = readBody(rawBody)
    const standard = readStandardHeaders(headers)
    checkSignature(webhooks, body, standard)
    return parseEvent(standard['webhook-id'], body)
  }
}

/**
 * Verifies one request and returns its event, typed. Throws a `WebhookVerificationError` for a request
 * that is not Waybill's, is older than five minutes, or was changed on its way.
 *
 * `rawBody` must be the body as it came, before any parser: the signature is over its bytes.
 */
export function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
): ReceivedEvent {
  return createVerifier(secrets)(rawBody, headers)
}

/** The secret itself is never repeated. */
function readSecret(secret: string): Webhook {
  try {
    return new Webhook(secret)
  } catch (error) {
    throw new TypeError('A webhook secret is the text that begins with whsec_, as Waybill showed it.', { cause: error })
  }
}

/** Strict: bytes that are not UTF-8 would become other bytes, and so be verified as something else. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function readBody(rawBody: unknown): string {
  if (typeof rawBody === 'string') return rawBody
  if (!(rawBody instanceof Uint8Array))
    throw new TypeError('A webhook is verified over its raw body: give the text or the bytes, not what a parser made.')
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

/** Throws what the library has to say of the last secret when none of them fits. */
function checkSignature(webhooks: Webhook[], body: string, headers: ReturnType<typeof readStandardHeaders>): void {
  let failure: unknown
  for (const webhook of webhooks) {
    try {
      // The parsing is ours: the library's own throws errors of another kind.
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

/** What a request's header fields come as: a `Headers` object, or the record of node:http and its kin. */
export type WebhookHeaders =
  | { get(name: string): string | null | undefined }
  | Readonly<Record<string, string | readonly string[] | undefined>>

export function readHeader(headers: WebhookHeaders, name: string): string | undefined {
  if (isReader(headers)) return headers.get(name) ?? undefined
  const value = headers[name] ?? Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return typeof value === 'string' ? value : value?.[0]
}

function isReader(headers: WebhookHeaders): headers is Extract<WebhookHeaders, { get: unknown }> {
  return typeof headers['get'] === 'function'
}
