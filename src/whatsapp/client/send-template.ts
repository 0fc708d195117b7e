import { userIdPattern } from '../../../contracts/fields.ts'
import { readIdentity } from '../callbacks/read-identity.ts'
import { lacksPermission } from '../error-codes.ts'
import type {
  Endpoint,
  MediaReference,
  OutgoingButton,
  OutgoingCard,
  OutgoingHeader,
  OutgoingTemplate,
  SendOutcome,
  TextParameter,
} from '../whatsapp.ts'
import type { Exchange } from './exchange.ts'
import { readRefusal, readUncodedError, type Refusal } from './refusal.ts'
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
  /** The outcome is an error with HTTP 200: it is reported, but nothing is sent again because of it. */
  hasSuccessStatus?: true
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
        ? readSuccess(exchange, [accessToken, ...secrets])
        : readFailure(exchange, [accessToken, ...secrets])
  }
}

function final(outcome: SendOutcome): Attempt {
  return { outcome, retryImmediately: false }
}

/** A response without a message ID leaves the outcome unknown, unless it has an error code that says that nothing was sent. */
function readSuccess(answer: Answer, secrets: readonly string[]): Attempt {
  const outcome = readAcceptance(answer.body)
  if (outcome.kind === 'accepted') return final(outcome)
  const refusal = readRefusal(answer, secrets)
  if (!refusal) return final(outcome)
  return { ...toAttempt(refusal, answer), retryImmediately: false, hasSuccessStatus: true }
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
  return refusal ? toAttempt(refusal, answer) : final(interpretForeignResponse(answer, secrets))
}

function toAttempt({ errorClass, error }: Refusal, answer: Answer): Attempt {
  if (errorClass.kind === 'unknown')
    return final({ kind: 'unknown', reason: `WhatsApp failed with HTTP ${answer.status}` })
  const { retryImmediately = false, accountUnusable = false, ...rest } = errorClass
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

/**
 * Returns the code with which WhatsApp rejected the endpoint itself. Only an error response counts, never a lost one.
 * A token that may not use the Marketing Messages API may still be allowed to send by the Cloud API.
 */
export function readWrongEndpoint(endpoint: Endpoint, outcome: SendOutcome): number | undefined {
  if (outcome.kind !== 'refused') return undefined
  const { code } = outcome.error
  return isForbidden(endpoint, outcome) || wrongEndpointCodes[endpoint].has(code) ? code : undefined
}

function isForbidden(endpoint: Endpoint, outcome: SendOutcome): boolean {
  if (endpoint !== 'marketing_messages' || outcome.kind !== 'refused') return false
  return outcome.accountUnusable && lacksPermission(outcome.error.code)
}

interface EndpointAnswer {
  endpoint: Endpoint
  outcome: SendOutcome
}

/**
 * The outcome of a send that both endpoints got. If neither takes the template, and the token may not use the Marketing
 * Messages API, that is the cause; it does not keep the account from sending other templates.
 */
export function chooseOutcome(first: EndpointAnswer, second: EndpointAnswer): SendOutcome {
  if (readWrongEndpoint(second.endpoint, second.outcome) === undefined) return second.outcome
  const forbidden = [first, second].find(({ endpoint, outcome }) => isForbidden(endpoint, outcome))
  return forbidden?.outcome.kind === 'refused' ? { ...forbidden.outcome, accountUnusable: false } : second.outcome
}

type OutgoingContent = Omit<OutgoingTemplate, 'to' | 'name' | 'language' | 'callbackData'>

/** Returns `template.components` of a send: only those that need a value (reference, section 1). */
export function toComponents(message: OutgoingContent): object[] {
  if (message.components) return message.components
  const components = toCardComponents(message)
  const { cards, limitedTimeOffer } = message
  if (limitedTimeOffer) components.push(toOffer(limitedTimeOffer.expiresAt))
  if (cards)
    components.push({
      type: 'carousel',
      cards: cards.map((card, index) => ({ card_index: index, components: toCardComponents(card) })),
    })
  return components
}

/** Returns the components that both messages and cards can have. */
function toCardComponents({ parameters, header, buttons }: OutgoingCard): object[] {
  const components: object[] = []
  if (header) components.push({ type: 'header', parameters: [toHeaderParameter(header)] })
  if (parameters.length > 0) components.push({ type: 'body', parameters: parameters.map(toTextParameter) })
  for (const button of buttons ?? []) components.push(toButtonComponent(button))
  return components
}

function toOffer(expiresAt: Date): object {
  const parameter = { type: 'limited_time_offer', limited_time_offer: { expiration_time_ms: expiresAt.getTime() } }
  return { type: 'limited_time_offer', parameters: [parameter] }
}

function toTextParameter({ name, text }: TextParameter): object {
  return name === undefined ? { type: 'text', text } : { type: 'text', parameter_name: name, text }
}

function toHeaderParameter(header: OutgoingHeader): object {
  switch (header.kind) {
    case 'text':
      return toTextParameter(header)
    case 'image':
      return { type: 'image', image: toMedia(header.media) }
    case 'video':
      return { type: 'video', video: toMedia(header.media) }
    case 'document': {
      const { media, filename } = header
      return { type: 'document', document: { ...toMedia(media), ...(filename !== undefined && { filename }) } }
    }
    case 'location': {
      const { latitude, longitude, name, address } = header
      // Meta's examples hold the degrees as text.
      const degrees = { latitude: String(latitude), longitude: String(longitude) }
      const labels = { ...(name !== undefined && { name }), ...(address !== undefined && { address }) }
      return { type: 'location', location: { ...degrees, ...labels } }
    }
    case 'product':
      return {
        type: 'product',
        product: { product_retailer_id: header.productId, catalog_id: header.catalogId },
      }
  }
}

function toMedia(media: MediaReference): object {
  return 'link' in media ? { link: media.link } : { id: media.id }
}

function toButtonComponent(button: OutgoingButton): object {
  const { subType, parameter } = toButtonParameter(button)
  return {
    type: 'button',
    sub_type: subType,
    index: String(button.index),
    ...(parameter && { parameters: [parameter] }),
  }
}

function toButtonParameter(button: OutgoingButton): { subType: string; parameter: object | undefined } {
  switch (button.kind) {
    case 'url':
      return { subType: 'url', parameter: { type: 'text', text: button.text } }
    case 'quickReply':
      return { subType: 'quick_reply', parameter: { type: 'payload', payload: button.payload } }
    case 'copyCode':
      return { subType: 'copy_code', parameter: { type: 'coupon_code', coupon_code: button.couponCode } }
    case 'flow': {
      const { token, data } = button
      const action = { ...(token !== undefined && { flow_token: token }), ...(data && { flow_action_data: data }) }
      const hasValue = token !== undefined || data !== undefined
      return { subType: 'flow', parameter: hasValue ? { type: 'action', action } : undefined }
    }
    case 'catalog': {
      const action = { thumbnail_product_retailer_id: button.thumbnailProductId }
      const hasValue = button.thumbnailProductId !== undefined
      return { subType: 'catalog', parameter: hasValue ? { type: 'action', action } : undefined }
    }
    case 'products':
      return { subType: 'mpm', parameter: { type: 'action', action: toProductAction(button) } }
  }
}

function toProductAction({ thumbnailProductId, sections }: Extract<OutgoingButton, { kind: 'products' }>): object {
  return {
    thumbnail_product_retailer_id: thumbnailProductId,
    sections: sections.map(({ title, productIds }) => ({
      title,
      product_items: productIds.map((id) => ({ product_retailer_id: id })),
    })),
  }
}
