import { z } from 'zod'
import { MessageError, MessageStatus } from '../api/message.ts'
import {
  AddressedUserId,
  ExternalId,
  KnownUserId,
  LanguageCode,
  MessageId,
  PhoneNumber,
  responseField,
  TemplateName,
  WaId,
  WaMessageId,
  WhatsAppAccountId,
  withExample,
} from '../fields.ts'
import { defineEvent, sharedExample } from './event.ts'

const MessageFacts = z.object({
  messageId: responseField(MessageId),
  waMessageId: WaMessageId,
  to: responseField(PhoneNumber).describe(
    'Recipient as sent: the number, or the user ID; `erased` after the recipient was erased.',
  ),
  recipient: AddressedUserId.optional(),
  waId: WaId.optional(),
  userId: KnownUserId.optional(),
  template: responseField(TemplateName),
  language: responseField(LanguageCode),
  accountId: responseField(WhatsAppAccountId).describe('ID of the WhatsApp account that sent it.'),
  externalId: responseField(ExternalId)
    .optional()
    .describe("The caller's reference; present only when it was provided."),
})

function status<Status extends string>(value: Status) {
  return z.literal(value).describe('The status that the message has reached.')
}

const example = {
  messageId: sharedExample.messageId,
  waMessageId: 'wamid.HBgLMzQ2MDAxMTEyMjIVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA',
  to: sharedExample.to,
  template: 'order_shipped',
  language: 'en',
  accountId: sharedExample.accountId,
  externalId: sharedExample.externalId,
}

export const MessageSentEvent = defineEvent({
  type: 'message.sent',
  id: 'MessageSentEvent',
  summary: 'A message was sent',
  description: 'WhatsApp accepted the message.',
  schema: MessageFacts.extend({ status: status('sent') }),
  example: {
    timestamp: '2026-11-20T09:30:00.000Z',
    data: { ...example, status: 'sent' },
  },
})

export const MessageDeliveredEvent = defineEvent({
  type: 'message.delivered',
  id: 'MessageDeliveredEvent',
  summary: 'A message was delivered',
  description: 'The message reached the recipient.',
  schema: MessageFacts.extend({
    status: status('delivered'),
    implied: z
      .literal(true)
      .optional()
      .describe(
        'Present only if WhatsApp reported that the message was read, and nothing before. `message.read` follows. WhatsApp does so for messages that are read at once.',
      ),
  }),
  example: {
    timestamp: '2026-11-20T09:30:02.000Z',
    data: { ...example, status: 'delivered' },
  },
})

export const MessageReadEvent = defineEvent({
  type: 'message.read',
  id: 'MessageReadEvent',
  summary: 'A message was read',
  description: 'The recipient read the message.',
  schema: MessageFacts.extend({ status: status('read') }),
  example: {
    timestamp: '2026-11-20T09:34:41.000Z',
    data: { ...example, status: 'read' },
  },
})

export const MessageFailedEvent = defineEvent({
  type: 'message.failed',
  id: 'MessageFailedEvent',
  summary: 'A message failed',
  description: 'WhatsApp could not deliver the message.',
  schema: MessageFacts.extend({
    status: status('failed'),
    error: MessageError.describe('Why it failed; present only in `message.failed`.'),
  }),
  example: {
    timestamp: '2026-11-20T09:30:03.000Z',
    data: {
      ...example,
      status: 'failed',
      error: { code: '131026', message: 'Message undeliverable' },
    },
  },
})

export const MessageOutcomeUnknownEvent = defineEvent({
  type: 'message.outcome_unknown',
  id: 'MessageOutcomeUnknownEvent',
  summary: "A message's outcome stays unknown",
  description: 'Whether the message was sent is still unknown.',
  schema: MessageFacts.omit({ waMessageId: true }).extend({ status: status('pending') }),
  example: {
    timestamp: '2026-11-20T10:30:01.000Z',
    data: {
      messageId: example.messageId,
      to: example.to,
      template: example.template,
      language: example.language,
      accountId: example.accountId,
      externalId: example.externalId,
      status: 'pending',
    },
  },
})

export const replyKinds = ['button', 'text', 'flow', 'contact'] as const

export const MessageReply = z
  .object({
    waMessageId: WaMessageId.describe(
      'Message ID that WhatsApp assigned to the reply. It contains the number of the sender: treat it as personal data.',
    ),
    from: responseField(PhoneNumber)
      .optional()
      .describe('Number that replied; absent if WhatsApp hides it. It can be written differently than `to`.'),
    userId: KnownUserId.optional().describe('User ID that replied; present only if WhatsApp reports it.'),
    kind: z
      .enum(replyKinds)
      .describe(
        '`button`: tapped a quick-reply button. `text`: wrote a text. `flow`: completed a flow. `contact`: shared the number that `REQUEST_CONTACT_INFO` asks for.',
      ),
    text: withExample(
      z.string().optional(),
      'Label of the button, the text that was written, or the number that was shared; at most 4096 characters.',
      'Yes',
    ),
    payload: withExample(
      z.string().optional(),
      'Payload of the button, or the answers of a flow as JSON text; at most 16384 characters.',
      'order-1042:yes',
    ),
    truncated: z.literal(true).optional().describe('Present only if `text` or `payload` was longer and is cut off.'),
  })
  .describe('What the recipient answered.')

export const MessageRepliedEvent = defineEvent({
  type: 'message.replied',
  id: 'MessageRepliedEvent',
  summary: 'A recipient replied',
  description: 'The recipient replied to the message.',
  schema: MessageFacts.extend({
    status: MessageStatus.describe('The status of the message when the reply arrived.'),
    reply: MessageReply.describe('What the recipient answered; present only in `message.replied`.'),
  }),
  example: {
    timestamp: '2026-11-20T09:36:12.000Z',
    data: {
      ...example,
      template: 'delivery_feedback',
      status: 'read',
      reply: {
        waMessageId: 'wamid.HBgLMzQ2MDAxMTEyMjIVAgASGBQzQTZGNzE2MkY0RDVBRTg2NUJDQQA=',
        from: '34600111222',
        kind: 'button',
        text: 'Yes',
        payload: 'order-1042:yes',
      },
    },
  },
})

/** Events about messages. */
export const MessageEvent = z
  .discriminatedUnion('type', [
    MessageSentEvent,
    MessageDeliveredEvent,
    MessageReadEvent,
    MessageFailedEvent,
    MessageOutcomeUnknownEvent,
    MessageRepliedEvent,
  ])
  .describe('Something that happened to a message, as webhooks report it.')
  .meta({ id: 'MessageEvent' })
export type MessageEvent = z.infer<typeof MessageEvent>
