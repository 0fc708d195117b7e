import { z } from 'zod'
import {
  AccountId,
  ExternalId,
  LanguageCode,
  MessageId,
  PhoneNumber,
  TemplateName,
  Timestamp,
  WaMessageId,
  answered,
} from './fields.ts'
import { MessageError } from './message.ts'

/** What we tell a customer's endpoints, by Standard Webhooks (standardwebhooks.com). */

const MessageFacts = z.object({
  messageId: answered(MessageId),
  waMessageId: WaMessageId,
  to: answered(PhoneNumber),
  template: answered(TemplateName),
  language: answered(LanguageCode),
  accountId: answered(AccountId).describe('ID of the WhatsApp account that sent it.'),
  externalId: answered(ExternalId).optional().describe("The caller's reference; present only when it was provided."),
})

function event<Type extends string, Data extends z.ZodObject>(type: Type, id: string, summary: string, data: Data) {
  return z
    .object({
      type: z.literal(type).describe('What happened.'),
      timestamp: Timestamp.describe('When it happened.'),
      data: data.describe('The message that it happened to.'),
    })
    .describe(summary)
    .meta({ id })
}

function status<Status extends string>(value: Status) {
  return z.literal(value).describe('The status that the message has reached.')
}

export const MessageSentEvent = event(
  'message.sent',
  'MessageSentEvent',
  'WhatsApp accepted the message.',
  MessageFacts.extend({ status: status('sent') }),
)
export const MessageDeliveredEvent = event(
  'message.delivered',
  'MessageDeliveredEvent',
  'The message reached the recipient.',
  MessageFacts.extend({ status: status('delivered') }),
)
export const MessageReadEvent = event(
  'message.read',
  'MessageReadEvent',
  'The recipient read the message.',
  MessageFacts.extend({ status: status('read') }),
)
export const MessageFailedEvent = event(
  'message.failed',
  'MessageFailedEvent',
  'WhatsApp could not deliver the message.',
  MessageFacts.extend({ status: status('failed'), error: MessageError.describe('Why it failed.') }),
)

/** What became of a message. */
export const MessageEvent = z.discriminatedUnion('type', [
  MessageSentEvent,
  MessageDeliveredEvent,
  MessageReadEvent,
  MessageFailedEvent,
])
export type MessageEvent = z.infer<typeof MessageEvent>

/** Sent on request only, to try an endpoint. */
export const TestEvent = z
  .object({
    type: z.literal('webhook.test').describe('A test: nothing happened.'),
    timestamp: Timestamp.describe('When the test was asked for.'),
    data: z
      .object({ endpointId: z.string().describe('ID of the endpoint that is tried.') })
      .describe('The endpoint that is tried.'),
  })
  .describe('A test that the account owner asked for.')
  .meta({ id: 'TestEvent' })

/** Everything that an endpoint can receive. */
export const WebhookEvent = z.discriminatedUnion('type', [...MessageEvent.options, TestEvent])
export type WebhookEvent = z.infer<typeof WebhookEvent>

/** The events that an endpoint can ask for. */
export const messageEventTypes = [
  'message.sent',
  'message.delivered',
  'message.read',
  'message.failed',
] as const satisfies MessageEvent['type'][]
export type MessageEventType = (typeof messageEventTypes)[number]

/** What an endpoint gets unless it asks otherwise. */
export const defaultEventTypes: readonly MessageEventType[] = ['message.delivered', 'message.read', 'message.failed']
