import { z } from 'zod'
import { WebhookEvent } from '../../contracts/events.ts'

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

const knownTypes: ReadonlySet<string> = new Set(WebhookEvent.options.map(({ shape }) => shape.type.value))

const AnyEvent = z.object({ type: z.string(), timestamp: z.string(), data: z.unknown() })

/** Parses a body whose signature was verified. */
export function parseEvent(eventId: string, body: string): ReceivedEvent {
  const json = parseJson(body)
  const { type, timestamp, data } = check(AnyEvent, json)
  return knownTypes.has(type)
    ? { eventId, ...check(WebhookEvent, json) }
    : { eventId, type: 'unknown', sentType: type, timestamp, data }
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    throw new WebhookVerificationError('The body is correctly signed, but is not JSON')
  }
}

function check<T extends z.ZodType>(schema: T, json: unknown): z.output<T> {
  const parsed = schema.safeParse(json)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new WebhookVerificationError(
    `The body is correctly signed, but is not a valid event: ${issue?.path.join('.')} ${issue?.message}`,
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
