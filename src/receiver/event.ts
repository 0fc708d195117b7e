import type { WebhookEvent } from '../../contracts/events.ts'

/** An event of a type unknown to this version, sent by a newer Waybill. */
export interface UnknownEvent {
  type: 'unknown'
  /** The type as it was sent. */
  sentType: string
  timestamp: string
  data: unknown
}

/**
 * A received event. `eventId` is the same for every attempt: store it to ignore duplicates. A `switch` over `type`
 * covers all known events, and `unknown` covers types that are added later.
 */
export type ReceivedEvent = (WebhookEvent | UnknownEvent) & { eventId: string }

const knownTypes = {
  'message.sent': true,
  'message.delivered': true,
  'message.read': true,
  'message.failed': true,
  'message.outcome_unknown': true,
  'message.replied': true,
  'whatsapp_account.inactive': true,
  'whatsapp_account.active': true,
  'whatsapp_account.token_expiring': true,
  'number.quality_changed': true,
  'endpoint.failing': true,
  'recipient.opted_out': true,
  'recipient.opted_in': true,
  'template.approved': true,
  'template.rejected': true,
  'template.paused': true,
  'template.category_changed': true,
  'template.category_changing': true,
  'webhook.test': true,
} as const satisfies Record<WebhookEvent['type'], true>

/**
 * Parses a body whose signature was verified. The signature proves that Waybill wrote it, so only the fields that all events
 * have are checked: the schemas of the events would be most of what an application loads.
 */
export function parseEvent(eventId: string, body: string): ReceivedEvent {
  const event = parseJson(body)
  const { type, timestamp, data } = event
  if (typeof type !== 'string') throw notAnEvent('type', 'text')
  if (typeof timestamp !== 'string') throw notAnEvent('timestamp', 'text')
  if (!Object.hasOwn(knownTypes, type)) return { eventId, type: 'unknown', sentType: type, timestamp, data }
  if (typeof data !== 'object' || data === null) throw notAnEvent('data', 'an object')
  // The signature vouches for the other fields of the type.
  return { ...event, eventId } as ReceivedEvent
}

function parseJson(body: string): Record<string, unknown> {
  try {
    const event: unknown = JSON.parse(body)
    return typeof event === 'object' ? { ...event } : {}
  } catch {
    throw new WebhookVerificationError('The body is correctly signed, but is not JSON')
  }
}

function notAnEvent(field: string, expected: string): WebhookVerificationError {
  return new WebhookVerificationError(
    `The body is correctly signed, but is not a valid event: ${field} must be ${expected}`,
  )
}

/**
 * The request could not be verified as sent by Waybill. The message explains why and quotes nothing of the request.
 */
export class WebhookVerificationError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'WebhookVerificationError'
  }
}
