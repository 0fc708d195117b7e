import type { WebhookEvent } from '../../contracts/events.ts'
import { eventFacts } from '../../contracts/facts/events.ts'

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

/**
 * Parses a body whose signature was verified. The signature proves that Waybill wrote it, so only the fields that all events
 * have are checked: the schemas of the events would be most of what an application loads.
 */
export function parseEvent(eventId: string, body: string): ReceivedEvent {
  const event = parseJson(body)
  const { type, timestamp, data } = event
  if (typeof type !== 'string') throw notAnEvent('type', 'text')
  if (typeof timestamp !== 'string') throw notAnEvent('timestamp', 'text')
  if (!Object.hasOwn(eventFacts, type)) return { eventId, type: 'unknown', sentType: type, timestamp, data }
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
