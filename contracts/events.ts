import { z } from 'zod'
import { EndpointFailingEvent, TestEvent } from './events/endpoint.ts'
import { documentation } from './events/event.ts'
import { MessageEvent } from './events/message.ts'
import { RecipientEvent } from './events/recipient.ts'
import { TemplateEvent } from './events/template.ts'
import { WhatsAppAccountEvent } from './events/whatsapp-account.ts'
import { eventFacts } from './facts/events.ts'
import { inEnglish } from './facts/fact.ts'
import { withExample } from './fields.ts'

export * from './events/endpoint.ts'
export * from './events/message.ts'
export * from './events/recipient.ts'
export * from './events/template.ts'
export * from './events/whatsapp-account.ts'

/** Everything that an endpoint can receive. */
export const WebhookEvent = z.discriminatedUnion('type', [
  ...MessageEvent.options,
  ...WhatsAppAccountEvent.options,
  EndpointFailingEvent,
  ...RecipientEvent.options,
  ...TemplateEvent.options,
  TestEvent,
])
export type WebhookEvent = z.infer<typeof WebhookEvent>
export type EventType = Exclude<WebhookEvent['type'], 'webhook.test'>

export const messageEventTypes = MessageEvent.options.map(readType)

/** The events that an endpoint can subscribe to. */
export const eventTypes = WebhookEvent.options.map(readType).filter((type) => type !== 'webhook.test')

/** The events that an endpoint subscribes to by default. */
export const defaultEventTypes: readonly EventType[] = ['message.delivered', 'message.read', 'message.failed']

type Webhooks = {
  [Type in WebhookEvent['type']]: {
    event: z.ZodObject
    summary: string
    description: string
    example: Extract<WebhookEvent, { type: Type }>
  }
}

/** Every webhook event with its documentation and an example. */
// `Object.fromEntries` loses the names, and the registry the type of each example.
export const webhooks = Object.fromEntries(
  WebhookEvent.options.map((event) => {
    const type = readType(event)
    const description = inEnglish(eventFacts[type]())
    return [
      type,
      { event, ...documentation.get(event), description: isOptIn(type) ? `${description} Opt-in.` : description },
    ]
  }),
) as unknown as Webhooks

function readType<Type extends string>(event: z.ZodObject<{ type: z.ZodLiteral<Type> }>): Type {
  return event.shape.type.value
}

function isOptIn(type: WebhookEvent['type']): boolean {
  return type !== 'webhook.test' && !defaultEventTypes.includes(type)
}

/** The header fields of each attempt (standardwebhooks.com). */
export const WebhookHeaders = z.object({
  'webhook-id': withExample(z.string(), 'Event ID, the same on every attempt.', 'evt_01kah3bc4pj1m6x8z0v2t5r7qd'),
  'webhook-timestamp': withExample(z.string(), 'Unix time of this attempt.', '1795167002'),
  'webhook-signature': withExample(
    z.string(),
    '`v1,` and the base64 signature; several, space-separated, during a rotation.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
})
