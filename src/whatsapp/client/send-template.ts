import { userIdPattern } from '../../../contracts/fields.ts'
import { readIdentity } from '../callbacks/read-identity.ts'
import type { Endpoint, OutgoingTemplate, SendOutcome } from '../whatsapp.ts'
import { toComponents } from './components.ts'
import type { Exchange } from './exchange.ts'
import { readRefusal, readUncodedError } from './refusal.ts'
import { parseJson } from './wire.ts'

/**
 * Returns the body of `POST /<phone number id>/messages` (reference, section 1). The policy is Meta's default, written out: if the account is no longer onboarded, WhatsApp
 * itself sends the message through the Cloud API, within the same call (autumn reference, section 1.3).
 */
export function toSendBody(message: OutgoingTemplate, endpoint: Endpoint, messagingAccountId?: string): object {
  const isUserId = userIdPattern.test(message.to)
  const components = toComponents(message)
  // `JSON.stringify` leaves out undefined.
  return {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    // Without the plus sign, WhatsApp prepends the sender's calling code. It takes a user ID in `to` for a number.
    recipient: isUserId ? message.to : undefined,
    to: isUserId ? undefined : `+${message.to}`,
    type: 'template',
    biz_opaque_callback_data: message.callbackData,
    messaging_account_id: messagingAccountId,
    template: {
      name: message.name,
      language: { code: message.language },
      components: components.length > 0 ? components : undefined,
    },
    product_policy: endpoint === 'messages' ? undefined : 'CLOUD_API_FALLBACK',
  }
}

export interface Attempt {
  outcome: SendOutcome
  /** Nothing was sent, and an immediate retry may succeed. */
  retryImmediately: boolean
}

const retryAfterSeconds = 5

/** Interprets the result of a request. If in doubt, the message may have been sent. */
export function readSend(
  exchange: Exchange,
  accessToken: string,
  { secrets = [] }: Pick<OutgoingTemplate, 'secrets'>,
): Attempt {
  switch (exchange.kind) {
    case 'unsent':
      return { outcome: { kind: 'unavailable', reason: exchange.reason, retryAfterSeconds }, retryImmediately: true }
    case 'unanswered':
      return final({ kind: 'unknown', reason: exchange.reason })
    case 'answered':
      return exchange.status < 300
        ? final(readAcceptance(exchange.body))
        : readFailure(exchange, [accessToken, ...secrets])
  }
}

function final(outcome: SendOutcome): Attempt {
  return { outcome, retryImmediately: false }
}

/** Without zod, which allocates 2 KB for it: every send gets this response. `message_status` is not used. */
function readAcceptance(body: string | undefined): SendOutcome {
  const response = body === undefined ? undefined : parseJson(body)
  const waMessageId = readFirst(response, 'messages')?.['id']
  if (typeof waMessageId !== 'string' || waMessageId === '')
    return { kind: 'unknown', reason: 'the response contains no message ID' }
  const contact = readFirst(response, 'contacts')
  return { kind: 'accepted', waMessageId, recipient: contact && readIdentity(contact) }
}

/** The first item of a list, if it is an object. */
function readFirst(response: unknown, list: 'messages' | 'contacts'): Record<string, unknown> | undefined {
  const items = isObject(response) ? response[list] : undefined
  const first: unknown = Array.isArray(items) ? items[0] : undefined
  return isObject(first) ? first : undefined
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

type Answer = Extract<Exchange, { kind: 'answered' }>

function readFailure(answer: Answer, secrets: readonly string[]): Attempt {
  const refusal = readRefusal(answer, secrets)
  if (!refusal) return final(interpretForeignResponse(answer, secrets))
  const { verdict, error } = refusal
  if (verdict.kind === 'unknown')
    return final({ kind: 'unknown', reason: `WhatsApp failed with HTTP ${answer.status}` })
  const { retryImmediately = false, accountUnusable = false, ...rest } = verdict
  return { outcome: { ...rest, accountUnusable, error }, retryImmediately }
}

/**
 * Interprets a response without an error code, from a proxy or because of a wrong base URL. It says nothing about the
 * access token. A server behind the proxy may have accepted the message.
 */
function interpretForeignResponse(answer: Answer, secrets: readonly string[]): SendOutcome {
  const { status, body, retryAfterSeconds: requested = 0 } = answer
  if (status >= 500) return { kind: 'unknown', reason: `an unreadable response with HTTP ${status}` }
  const words = readUncodedError(body, secrets)
  const received = status < 400 ? 'a redirect, which is not followed,' : 'an unreadable response'
  return {
    kind: 'unavailable',
    reason: words === undefined ? `${received} with HTTP ${status}` : `HTTP ${status} without an error code: ${words}`,
    retryAfterSeconds: Math.max(retryAfterSeconds, requested),
  }
}

/** Answers that an endpoint is the wrong one for the template, and that nothing was sent (autumn reference, section 1.4). */
const wrongEndpointCodes: Readonly<Record<Endpoint, ReadonlySet<number>>> = {
  marketing_messages: new Set([131055, 134100]),
  messages: new Set([131061, 131063]),
}

/** Returns the code with which WhatsApp rejected the endpoint itself. Only an error response counts, never a lost one. */
export function readWrongEndpoint(endpoint: Endpoint, outcome: SendOutcome): number | undefined {
  if (outcome.kind !== 'refused') return undefined
  return wrongEndpointCodes[endpoint].has(outcome.error.code) ? outcome.error.code : undefined
}
