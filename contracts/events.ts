import { z } from 'zod'
import { MessageError, MessageStatus } from './api/message.ts'
import { recipientReasons } from './api/suppression.ts'
import {
  AccountId,
  responseField,
  ExternalId,
  LanguageCode,
  MessageId,
  PhoneNumber,
  TemplateName,
  Timestamp,
  WaMessageId,
} from './fields.ts'

/** What we tell a customer's endpoints, by Standard Webhooks (standardwebhooks.com). */

const MessageFacts = z.object({
  messageId: responseField(MessageId),
  waMessageId: WaMessageId,
  to: responseField(PhoneNumber).describe('Recipient number; `erased` after the recipient was erased.'),
  template: responseField(TemplateName),
  language: responseField(LanguageCode),
  accountId: responseField(AccountId).describe('ID of the WhatsApp account that sent it.'),
  externalId: responseField(ExternalId)
    .optional()
    .describe("The caller's reference; present only when it was provided."),
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
  MessageFacts.extend({
    status: status('failed'),
    error: MessageError.describe('Why it failed; present only in `message.failed`.'),
  }),
)

export const MessageOutcomeUnknownEvent = event(
  'message.outcome_unknown',
  'MessageOutcomeUnknownEvent',
  'Whether the message was sent is still unknown.',
  MessageFacts.omit({ waMessageId: true }).extend({ status: status('pending') }),
)

export const replyKinds = ['button', 'text', 'flow'] as const

export const MessageReply = z
  .object({
    waMessageId: WaMessageId.describe(
      'Message ID that WhatsApp assigned to the reply. It contains the number of the sender: treat it as personal data.',
    ),
    from: responseField(PhoneNumber)
      .optional()
      .describe('Number that replied; absent if WhatsApp hides it. It can be written differently than `to`.'),
    kind: z
      .enum(replyKinds)
      .describe('`button`: tapped a quick-reply button. `text`: wrote a text. `flow`: completed a flow.'),
    text: z
      .string()
      .optional()
      .describe('Label of the button, or the text that was written; at most 4096 characters.')
      .meta({ examples: ['Yes'] }),
    payload: z
      .string()
      .optional()
      .describe('Payload of the button, or the answers of a flow as JSON text; at most 16384 characters.')
      .meta({ examples: ['order-1042:yes'] }),
    truncated: z.literal(true).optional().describe('Present only if `text` or `payload` was longer and is cut off.'),
  })
  .describe('What the recipient answered.')
export type MessageReply = z.infer<typeof MessageReply>

export const MessageRepliedEvent = event(
  'message.replied',
  'MessageRepliedEvent',
  'The recipient replied to the message.',
  MessageFacts.extend({
    status: MessageStatus.describe('The status of the message when the reply arrived.'),
    reply: MessageReply.describe('What the recipient answered; present only in `message.replied`.'),
  }),
)

/** Something that happened to a message. */
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

const WhatsAppAccountFacts = z.object({
  accountId: responseField(AccountId).describe('ID of the WhatsApp account.'),
  phoneNumberId: z
    .string()
    .describe("WhatsApp's ID of the phone number.")
    .meta({ examples: ['106540352242922'] }),
  displayPhoneNumber: z
    .string()
    .optional()
    .describe('The phone number, as WhatsApp shows it; absent if it is not known.')
    .meta({ examples: ['+34 600 111 222'] }),
  isDefault: z.boolean().describe('Whether requests without `accountId` use it.'),
})

function accountEvent<Type extends string, Data extends z.ZodObject>(
  type: Type,
  id: string,
  summary: string,
  data: Data,
) {
  return z
    .object({
      type: z.literal(type).describe('What happened.'),
      timestamp: Timestamp.describe('When it happened.'),
      data: data.describe('The WhatsApp account that it happened to.'),
    })
    .describe(summary)
    .meta({ id })
}

export const WhatsAppAccountInactiveEvent = accountEvent(
  'whatsapp_account.inactive',
  'WhatsAppAccountInactiveEvent',
  'A WhatsApp account can no longer send.',
  WhatsAppAccountFacts.extend({
    by: z.enum(['whatsapp', 'user']).describe('Who made it inactive.'),
    reason: z
      .string()
      .describe('Why, in words.')
      .meta({ examples: ['WhatsApp refused it (190): Access token has expired'] }),
  }),
)
export const WhatsAppAccountActiveEvent = accountEvent(
  'whatsapp_account.active',
  'WhatsAppAccountActiveEvent',
  'A WhatsApp account can send again.',
  WhatsAppAccountFacts,
)
export const WhatsAppAccountTokenExpiringEvent = accountEvent(
  'whatsapp_account.token_expiring',
  'WhatsAppAccountTokenExpiringEvent',
  'The access token of a WhatsApp account expires soon.',
  WhatsAppAccountFacts.extend({
    expiresAt: Timestamp.describe('When the token expires.'),
    daysLeft: z
      .int()
      .describe('Whole days until then; 0 on the last day.')
      .meta({ examples: [7] }),
  }),
)

const QualityRating = z.enum(['GREEN', 'YELLOW', 'RED'])

export const NumberQualityChangedEvent = accountEvent(
  'number.quality_changed',
  'NumberQualityChangedEvent',
  'WhatsApp changed the quality rating of a phone number.',
  WhatsAppAccountFacts.extend({
    qualityRating: QualityRating.describe('The rating now: `GREEN` is high, `RED` is low.'),
    previousQualityRating: QualityRating.describe('The rating before.'),
  }),
)

/** What happens to a WhatsApp account and its phone number. */
export const WhatsAppAccountEvent = z.discriminatedUnion('type', [
  WhatsAppAccountInactiveEvent,
  WhatsAppAccountActiveEvent,
  WhatsAppAccountTokenExpiringEvent,
  NumberQualityChangedEvent,
])
export type WhatsAppAccountEvent = z.infer<typeof WhatsAppAccountEvent>

/** Reported to the other endpoints of the account. */
export const EndpointFailingEvent = z
  .object({
    type: z.literal('endpoint.failing').describe('What happened.'),
    timestamp: Timestamp.describe('When it was noticed.'),
    data: z
      .object({
        endpointId: z
          .string()
          .describe('ID of the endpoint that fails.')
          .meta({ examples: ['ep_01kah38x7w6c5b4a3z2y1x0wvt'] }),
        host: z
          .string()
          .describe('Host of its URL. The rest of the URL can hold secrets.')
          .meta({ examples: ['hooks.example.com'] }),
        disabled: z.boolean().describe('Whether Waybill has disabled it, so that its deliveries wait.'),
        failingSince: Timestamp.optional().describe('Since when every attempt has failed.'),
        reason: z
          .string()
          .optional()
          .describe('Why it is disabled; absent if it is not.')
          .meta({ examples: ['it answered 410 Gone'] }),
      })
      .describe('The endpoint that fails.'),
  })
  .describe('A webhook endpoint of the account fails.')
  .meta({ id: 'EndpointFailingEvent' })
export type EndpointFailingEvent = z.infer<typeof EndpointFailingEvent>

const RecipientFacts = z.object({
  to: responseField(PhoneNumber).describe('Number of the recipient.'),
  accountId: responseField(AccountId).describe('ID of the WhatsApp account that it is about.'),
  reason: z
    .enum(recipientReasons)
    .describe(
      '`reply`: sent a word such as STOP or START, or tapped such a button. `preference`: changed the preference for marketing messages in WhatsApp. `rejected`: WhatsApp rejected a message with 131050.',
    ),
  messageId: responseField(MessageId)
    .optional()
    .describe('The message that was replied to or rejected; absent if there is none.'),
  externalId: responseField(ExternalId).optional().describe("The caller's reference of that message, if it has one."),
})

function recipientEvent<Type extends string>(type: Type, id: string, summary: string) {
  return z
    .object({
      type: z.literal(type).describe('What happened.'),
      timestamp: Timestamp.describe('When it happened.'),
      data: RecipientFacts.describe('The recipient and the reason.'),
    })
    .describe(summary)
    .meta({ id })
}

const TemplateFacts = z.object({
  template: responseField(TemplateName),
  language: responseField(LanguageCode),
  templateId: z
    .string()
    .describe("WhatsApp's ID of the template.")
    .meta({ examples: ['1304694804498707'] }),
  accountIds: z
    .array(responseField(AccountId))
    .describe('IDs of the WhatsApp accounts that share the template.')
    .meta({ examples: [['wa_01kah39zr4e8m5n6p7q8s9t0vw']] }),
  status: z
    .string()
    .describe('Approval status as WhatsApp names it.')
    .meta({ examples: ['APPROVED'] }),
  category: z
    .string()
    .optional()
    .describe('The category that WhatsApp assigned.')
    .meta({ examples: ['UTILITY'] }),
})

function templateEvent<Type extends string, Data extends z.ZodObject>(
  type: Type,
  id: string,
  summary: string,
  data: Data,
) {
  return z
    .object({
      type: z.literal(type).describe('What happened.'),
      timestamp: Timestamp.describe('When Waybill noticed it.'),
      data: data.describe('The template that it happened to.'),
    })
    .describe(summary)
    .meta({ id })
}

export const RecipientOptedOutEvent = recipientEvent(
  'recipient.opted_out',
  'RecipientOptedOutEvent',
  'A recipient opted out and is on the suppression list now.',
)
export const RecipientOptedInEvent = recipientEvent(
  'recipient.opted_in',
  'RecipientOptedInEvent',
  'A recipient opted in again and is not on the suppression list any more.',
)

/** A recipient's own decision about messages. Changes that a user makes are not reported. */
export const RecipientEvent = z.discriminatedUnion('type', [RecipientOptedOutEvent, RecipientOptedInEvent])
export type RecipientEvent = z.infer<typeof RecipientEvent>

export const TemplateApprovedEvent = templateEvent(
  'template.approved',
  'TemplateApprovedEvent',
  'WhatsApp approved a template.',
  TemplateFacts,
)
export const TemplateRejectedEvent = templateEvent(
  'template.rejected',
  'TemplateRejectedEvent',
  'WhatsApp rejected a template.',
  TemplateFacts.extend({
    reason: z
      .string()
      .describe('Why, as WhatsApp names it.')
      .meta({ examples: ['INVALID_FORMAT'] }),
  }),
)
export const TemplatePausedEvent = templateEvent(
  'template.paused',
  'TemplatePausedEvent',
  'WhatsApp paused or disabled a template.',
  TemplateFacts.extend({
    qualityScore: z
      .string()
      .optional()
      .describe('`GREEN`, `YELLOW`, `RED` or `UNKNOWN`; absent if it is not known.')
      .meta({ examples: ['RED'] }),
  }),
)
export const TemplateCategoryChangedEvent = templateEvent(
  'template.category_changed',
  'TemplateCategoryChangedEvent',
  'WhatsApp changed the category of a template.',
  TemplateFacts.extend({
    category: z
      .string()
      .describe('The new category.')
      .meta({ examples: ['MARKETING'] }),
    previousCategory: z
      .string()
      .describe('The category before.')
      .meta({ examples: ['UTILITY'] }),
  }),
)

/** Results of WhatsApp's review of a template, and later changes of its status or category. */
export const TemplateEvent = z.discriminatedUnion('type', [
  TemplateApprovedEvent,
  TemplateRejectedEvent,
  TemplatePausedEvent,
  TemplateCategoryChangedEvent,
])
export type TemplateEvent = z.infer<typeof TemplateEvent>

/** Sent on request only, to try an endpoint. */
export const TestEvent = z
  .object({
    type: z.literal('webhook.test').describe('A test: nothing happened.'),
    timestamp: Timestamp.describe('When the test was asked for.'),
    data: z.object({ endpointId: z.string().describe('ID of the tested endpoint.') }).describe('The tested endpoint.'),
  })
  .describe('A test that the account owner asked for.')
  .meta({ id: 'TestEvent' })

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

export const messageEventTypes = [
  'message.sent',
  'message.delivered',
  'message.read',
  'message.failed',
  'message.outcome_unknown',
  'message.replied',
] as const satisfies MessageEvent['type'][]

/** The events that an endpoint can ask for. */
export const eventTypes = [
  ...messageEventTypes,
  'whatsapp_account.inactive',
  'whatsapp_account.active',
  'whatsapp_account.token_expiring',
  'number.quality_changed',
  'endpoint.failing',
  'recipient.opted_out',
  'recipient.opted_in',
  'template.approved',
  'template.rejected',
  'template.paused',
  'template.category_changed',
] as const satisfies (
  | MessageEvent
  | WhatsAppAccountEvent
  | EndpointFailingEvent
  | TemplateEvent
  | RecipientEvent
)['type'][]
export type EventType = (typeof eventTypes)[number]

/** What an endpoint gets unless it asks otherwise. */
export const defaultEventTypes: readonly EventType[] = ['message.delivered', 'message.read', 'message.failed']

const exampleFacts = {
  messageId: 'msg_01kah3b9mzf5vt2d0wq8r6x4ye',
  waMessageId: 'wamid.HBgLMzQ2MDAxMTEyMjIVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA',
  to: '34600111222',
  template: 'order_shipped',
  language: 'en',
  accountId: 'wa_01kah39zr4e8m5n6p7q8s9t0vw',
  externalId: 'order-1042',
}

const exampleAccount = {
  accountId: exampleFacts.accountId,
  phoneNumberId: '106540352242922',
  displayPhoneNumber: '+34 600 111 222',
  isDefault: true,
}

const exampleTemplate = {
  template: 'order_shipped',
  language: 'en',
  templateId: '1304694804498707',
  accountIds: [exampleFacts.accountId],
  status: 'APPROVED',
  category: 'UTILITY',
}

/** Every webhook, with what it is for and how it looks. */
export const webhooks = {
  'message.sent': {
    event: MessageSentEvent,
    summary: 'A message was sent',
    description: 'WhatsApp accepted the message. Only endpoints that ask for it get this event.',
    example: {
      type: 'message.sent',
      timestamp: '2026-11-20T09:30:00.000Z',
      data: { ...exampleFacts, status: 'sent' },
    },
  },
  'message.delivered': {
    event: MessageDeliveredEvent,
    summary: 'A message was delivered',
    description: "The message reached the recipient's device.",
    example: {
      type: 'message.delivered',
      timestamp: '2026-11-20T09:30:02.000Z',
      data: { ...exampleFacts, status: 'delivered' },
    },
  },
  'message.read': {
    event: MessageReadEvent,
    summary: 'A message was read',
    description: 'The recipient opened the message. Recipients who hide this are never reported as having read it.',
    example: {
      type: 'message.read',
      timestamp: '2026-11-20T09:34:41.000Z',
      data: { ...exampleFacts, status: 'read' },
    },
  },
  'message.failed': {
    event: MessageFailedEvent,
    summary: 'A message failed',
    description: 'WhatsApp could not deliver the message; `error` says why, with the code that WhatsApp gave.',
    example: {
      type: 'message.failed',
      timestamp: '2026-11-20T09:30:03.000Z',
      data: {
        ...exampleFacts,
        status: 'failed',
        error: { code: '131026', message: 'Message undeliverable' },
      },
    },
  },
  'message.outcome_unknown': {
    event: MessageOutcomeUnknownEvent,
    summary: "A message's outcome stays unknown",
    description:
      'No answer and no status of WhatsApp has come for an hour (`WAYBILL_OUTCOME_UNKNOWN_AFTER`), so the message may have been sent or not. Reported once; a status that comes later is reported as usual. Only endpoints that ask for it get this event.',
    example: {
      type: 'message.outcome_unknown',
      timestamp: '2026-11-20T10:30:01.000Z',
      data: {
        messageId: exampleFacts.messageId,
        to: exampleFacts.to,
        template: exampleFacts.template,
        language: exampleFacts.language,
        accountId: exampleFacts.accountId,
        externalId: exampleFacts.externalId,
        status: 'pending',
      },
    },
  },
  'message.replied': {
    event: MessageRepliedEvent,
    summary: 'A recipient replied',
    description:
      'The recipient tapped a quick-reply button of the message, completed its flow, or answered it with a text. Other messages of the recipient are not reported. Only endpoints that ask for it get this event.',
    example: {
      type: 'message.replied',
      timestamp: '2026-11-20T09:36:12.000Z',
      data: {
        ...exampleFacts,
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
  },
  'whatsapp_account.inactive': {
    event: WhatsAppAccountInactiveEvent,
    summary: 'A WhatsApp account became inactive',
    description:
      'WhatsApp rejected its access token or disabled it, or a user deactivated it: every send from it is refused until it is active again. Reported once. Only endpoints that ask for it get this event.',
    example: {
      type: 'whatsapp_account.inactive',
      timestamp: '2026-11-20T09:30:00.000Z',
      data: { ...exampleAccount, by: 'whatsapp', reason: 'WhatsApp refused it (190): Access token has expired' },
    },
  },
  'whatsapp_account.active': {
    event: WhatsAppAccountActiveEvent,
    summary: 'A WhatsApp account is active again',
    description: 'Its token was replaced, or it was activated. Only endpoints that ask for it get this event.',
    example: { type: 'whatsapp_account.active', timestamp: '2026-11-20T09:45:00.000Z', data: exampleAccount },
  },
  'whatsapp_account.token_expiring': {
    event: WhatsAppAccountTokenExpiringEvent,
    summary: 'An access token expires soon',
    description:
      'Reported 14, 7 and 1 days before the access token expires, and on the last day. Only endpoints that ask for it get this event.',
    example: {
      type: 'whatsapp_account.token_expiring',
      timestamp: '2026-11-20T09:30:00.000Z',
      data: { ...exampleAccount, expiresAt: '2026-11-27T10:00:00.000Z', daysLeft: 7 },
    },
  },
  'number.quality_changed': {
    event: NumberQualityChangedEvent,
    summary: 'The quality rating of a number changed',
    description:
      'WhatsApp rates each phone number by how often recipients block or report its messages. A low rating can lower the messaging limit. Only endpoints that ask for it get this event.',
    example: {
      type: 'number.quality_changed',
      timestamp: '2026-11-20T09:30:00.000Z',
      data: { ...exampleAccount, qualityRating: 'YELLOW', previousQualityRating: 'GREEN' },
    },
  },
  'endpoint.failing': {
    event: EndpointFailingEvent,
    summary: 'A webhook endpoint fails',
    description:
      'Every attempt to deliver to an endpoint has failed for five minutes, or Waybill has disabled it. Reported once, to the other endpoints of the account that ask for it; again after a delivery has succeeded or the endpoint was enabled.',
    example: {
      type: 'endpoint.failing',
      timestamp: '2026-11-20T09:35:00.000Z',
      data: {
        endpointId: 'ep_01kah38x7w6c5b4a3z2y1x0wvt',
        host: 'hooks.example.com',
        disabled: false,
        failingSince: '2026-11-20T09:30:00.000Z',
      },
    },
  },
  'recipient.opted_out': {
    event: RecipientOptedOutEvent,
    summary: 'A recipient opted out',
    description:
      'The recipient sent a word such as STOP, stopped marketing messages in WhatsApp, or WhatsApp rejected a message because of that (131050). Marketing messages to the recipient are refused from now on. Only endpoints that ask for it get this event.',
    example: {
      type: 'recipient.opted_out',
      timestamp: '2026-11-20T09:36:12.000Z',
      data: {
        to: exampleFacts.to,
        accountId: exampleFacts.accountId,
        reason: 'reply',
        messageId: exampleFacts.messageId,
        externalId: exampleFacts.externalId,
      },
    },
  },
  'recipient.opted_in': {
    event: RecipientOptedInEvent,
    summary: 'A recipient opted in again',
    description:
      'The recipient sent a word such as START, or resumed marketing messages in WhatsApp. Only endpoints that ask for it get this event.',
    example: {
      type: 'recipient.opted_in',
      timestamp: '2026-11-20T10:02:40.000Z',
      data: { to: exampleFacts.to, accountId: exampleFacts.accountId, reason: 'preference' },
    },
  },
  'template.approved': {
    event: TemplateApprovedEvent,
    summary: 'A template was approved',
    description:
      'WhatsApp approved a template, or resumed a paused one: it can be sent. Only endpoints that ask for it get this event.',
    example: { type: 'template.approved', timestamp: '2026-11-20T09:30:00.000Z', data: exampleTemplate },
  },
  'template.rejected': {
    event: TemplateRejectedEvent,
    summary: 'A template was rejected',
    description:
      'WhatsApp rejected a template in its review; `reason` says why. Change it and submit it again. Only endpoints that ask for it get this event.',
    example: {
      type: 'template.rejected',
      timestamp: '2026-11-20T09:30:00.000Z',
      data: { ...exampleTemplate, status: 'REJECTED', reason: 'INVALID_FORMAT' },
    },
  },
  'template.paused': {
    event: TemplatePausedEvent,
    summary: 'A template was paused',
    description:
      'WhatsApp paused a template because recipients blocked or reported it, or disabled it after several pauses: `status` says which. It cannot be sent. Only endpoints that ask for it get this event.',
    example: {
      type: 'template.paused',
      timestamp: '2026-11-20T09:30:00.000Z',
      data: { ...exampleTemplate, status: 'PAUSED', qualityScore: 'RED' },
    },
  },
  'template.category_changed': {
    event: TemplateCategoryChangedEvent,
    summary: 'The category of a template changed',
    description:
      'WhatsApp assigned another category than before, or than the one asked for. Prices and limits follow the category. Only endpoints that ask for it get this event.',
    example: {
      type: 'template.category_changed',
      timestamp: '2026-11-20T09:30:00.000Z',
      data: { ...exampleTemplate, category: 'MARKETING', previousCategory: 'UTILITY' },
    },
  },
  'webhook.test': {
    event: TestEvent,
    summary: 'Test event',
    description: 'Sent once, when the account owner tries an endpoint. Nothing happened.',
    example: {
      type: 'webhook.test',
      timestamp: '2026-11-20T09:25:00.000Z',
      data: { endpointId: 'ep_01kah38x7w6c5b4a3z2y1x0wvt' },
    },
  },
} as const satisfies {
  [Type in WebhookEvent['type']]: {
    event: z.ZodObject
    summary: string
    description: string
    example: Extract<WebhookEvent, { type: Type }>
  }
}

/** The header fields of each attempt (standardwebhooks.com). */
export const WebhookHeaders = z.object({
  'webhook-id': z
    .string()
    .describe('ID of the event, the same on every attempt: remember it to ignore repeats.')
    .meta({ examples: ['evt_01kah3bc4pj1m6x8z0v2t5r7qd'] }),
  'webhook-timestamp': z
    .string()
    .describe('When this attempt was made, in seconds since 1970. Refuse one that is more than five minutes off.')
    .meta({ examples: ['1795167002'] }),
  'webhook-signature': z
    .string()
    .describe(
      '`v1,` and the base64 of the HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>`; several of them, separated by spaces, while a secret is rotated. The key is what the base64 behind `whsec_` of the secret stands for.',
    )
    .meta({ examples: ['v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4='] }),
})
