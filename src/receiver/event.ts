import { z } from 'zod'
import { WebhookEvent } from '../../contracts/events.ts'

/** An event of a type that this version does not know: a newer Waybill sent it. */
export interface UnknownEvent {
  type: 'unknown'
  /** The type as it was sent. */
  sentType: string
  timestamp: string
  data: unknown
}

/**
 * What an endpoint received. `eventId` is the same on every attempt: remember it to ignore repeats.
 * A `switch` over `type` knows every event, and `unknown` stands for all that are still to come.
 */
export type ReceivedEvent = (WebhookEvent | UnknownEvent) & { eventId: string }

const knownTypes: ReadonlySet<string> = new Set(WebhookEvent.options.map(({ shape }) => shape.type.value))

const AnyEvent = z.object({ type: z.string(), timestamp: z.string(), data: z.unknown() })

/** Types a body whose signature was checked. */
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
    throw new WebhookVerificationError('The body is signed, and is not JSON')
  }
}

function check<T extends z.ZodType>(schema: T, json: unknown): z.output<T> {
  const parsed = schema.safeParse(json)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new WebhookVerificationError(`The body is signed, and is no event: ${issue?.path.join('.')} ${issue?.message}`)
}

/** A request that cannot be shown to be Waybill's; the message says why, and quotes nothing of it. */
export class WebhookVerificationError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'WebhookVerificationError'
  }
}
