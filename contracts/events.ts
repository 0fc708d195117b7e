import { z } from 'zod'
import { MessageError, MessageStatus } from './api/message.ts'
import { recipientReasons } from './api/suppression.ts'
import {
  WhatsAppAccountId,
  AddressedUserId,
  responseField,
  ExternalId,
  KnownUserId,
  LanguageCode,
  MessageId,
  PhoneNumber,
  TemplateName,
  Timestamp,
  WaId,
  WaMessageId,
} from './fields.ts'
import { CategoryCost } from './pricing.ts'

/** Webhook events, in the form of Standard Webhooks (standardwebhooks.com). */

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

interface Texts {
  /** What `data` describes. */
  data?: string
  timestamp?: string
}

function event<Type extends string, Data extends z.ZodObject>(
  type: Type,
  id: string,
  summary: string,
  schema: Data,
  { data = 'The message that it happened to.', timestamp = 'When it happened.' }: Texts = {},
) {
  return z
    .object({
      type: z.literal(type).describe('What happened.'),
      timestamp: Timestamp.describe(timestamp),
      data: schema.describe(data),
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
  MessageFacts.extend({
    status: status('delivered'),
    implied: z
      .literal(true)
      .optional()
      .describe(
        'Present only if WhatsApp reported that the message was read, and nothing before. `message.read` follows. WhatsApp does so for messages that are read at once.',
      ),
  }),
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
    text: z
      .string()
      .optional()
      .describe(
        'Label of the button, the text that was written, or the number that was shared; at most 4096 characters.',
      )
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

const WhatsAppAccountFacts = z.object({
  accountId: responseField(WhatsAppAccountId).describe('ID of the WhatsApp account.'),
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

const ofAccount: Texts = { data: 'The WhatsApp account that it happened to.' }

export const WhatsAppAccountInactiveEvent = event(
  'whatsapp_account.inactive',
  'WhatsAppAccountInactiveEvent',
  'A WhatsApp account can no longer send.',
  WhatsAppAccountFacts.extend({
    by: z.enum(['whatsapp', 'user']).describe('Who made it inactive.'),
    reason: z
      .string()
      .describe('Why, in words.')
      .meta({ examples: ['WhatsApp rejected it (190): Access token has expired'] }),
  }),
  ofAccount,
)
export const WhatsAppAccountActiveEvent = event(
  'whatsapp_account.active',
  'WhatsAppAccountActiveEvent',
  'A WhatsApp account can send again.',
  WhatsAppAccountFacts,
  ofAccount,
)
export const WhatsAppAccountTokenExpiringEvent = event(
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
  ofAccount,
)

const QualityRating = z.enum(['GREEN', 'YELLOW', 'RED'])

export const NumberQualityChangedEvent = event(
  'number.quality_changed',
  'NumberQualityChangedEvent',
  'WhatsApp changed the quality rating of a phone number.',
  WhatsAppAccountFacts.extend({
    qualityRating: QualityRating.describe('The rating now: `GREEN` is high, `RED` is low.'),
    previousQualityRating: QualityRating.describe('The rating before.'),
  }),
  ofAccount,
)

/** Events about a WhatsApp account and its phone number. */
export const WhatsAppAccountEvent = z.discriminatedUnion('type', [
  WhatsAppAccountInactiveEvent,
  WhatsAppAccountActiveEvent,
  WhatsAppAccountTokenExpiringEvent,
  NumberQualityChangedEvent,
])
export type WhatsAppAccountEvent = z.infer<typeof WhatsAppAccountEvent>

/** Reported to the other endpoints of the account. */
export const EndpointFailingEvent = event(
  'endpoint.failing',
  'EndpointFailingEvent',
  'A webhook endpoint of the account fails.',
  z.object({
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
  }),
  { data: 'The endpoint that fails.', timestamp: 'When it was noticed.' },
)
export type EndpointFailingEvent = z.infer<typeof EndpointFailingEvent>

const RecipientFacts = z.object({
  to: responseField(PhoneNumber).describe(
    'Number of the recipient; the user ID if WhatsApp hides the number and has never reported it.',
  ),
  userId: KnownUserId.optional(),
  accountId: responseField(WhatsAppAccountId).describe('ID of the WhatsApp account that it is about.'),
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

const ofRecipient: Texts = { data: 'The recipient and the reason.' }

const TemplateFacts = z.object({
  template: responseField(TemplateName),
  language: responseField(LanguageCode),
  templateId: z
    .string()
    .describe("WhatsApp's ID of the template.")
    .meta({ examples: ['1304694804498707'] }),
  accountIds: z
    .array(responseField(WhatsAppAccountId))
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

const ofTemplate: Texts = { data: 'The template that it happened to.', timestamp: 'When Waybill noticed it.' }

export const RecipientOptedOutEvent = event(
  'recipient.opted_out',
  'RecipientOptedOutEvent',
  'A recipient opted out and is on the suppression list now.',
  RecipientFacts,
  ofRecipient,
)
export const RecipientOptedInEvent = event(
  'recipient.opted_in',
  'RecipientOptedInEvent',
  'A recipient opted in again and is no longer on the suppression list.',
  RecipientFacts,
  ofRecipient,
)

/** Opt-outs and opt-ins by recipients. Changes by users are not reported. */
export const RecipientEvent = z.discriminatedUnion('type', [RecipientOptedOutEvent, RecipientOptedInEvent])
export type RecipientEvent = z.infer<typeof RecipientEvent>

export const TemplateApprovedEvent = event(
  'template.approved',
  'TemplateApprovedEvent',
  'WhatsApp approved a template.',
  TemplateFacts,
  ofTemplate,
)
export const TemplateRejectedEvent = event(
  'template.rejected',
  'TemplateRejectedEvent',
  'WhatsApp rejected a template.',
  TemplateFacts.extend({
    reason: z
      .string()
      .describe('Why, as WhatsApp names it.')
      .meta({ examples: ['INVALID_FORMAT'] }),
  }),
  ofTemplate,
)
export const TemplatePausedEvent = event(
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
  ofTemplate,
)
export const TemplateCategoryChangedEvent = event(
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
  ofTemplate,
)

export const TemplateCategoryChangingEvent = event(
  'template.category_changing',
  'TemplateCategoryChangingEvent',
  'WhatsApp announced another category for a template.',
  TemplateFacts.extend({
    newCategory: z
      .string()
      .describe('The announced category. Until then, `category` and the price stay.')
      .meta({ examples: ['MARKETING'] }),
    takesEffectAt: Timestamp.optional().describe('When it takes effect; absent if WhatsApp did not say it.'),
    cost: CategoryCost.optional(),
  }),
  ofTemplate,
)

/** Results of WhatsApp's template reviews, and later changes of a template's status or category. */
export const TemplateEvent = z.discriminatedUnion('type', [
  TemplateApprovedEvent,
  TemplateRejectedEvent,
  TemplatePausedEvent,
  TemplateCategoryChangedEvent,
  TemplateCategoryChangingEvent,
])
export type TemplateEvent = z.infer<typeof TemplateEvent>

/** Sent on request only, to test an endpoint. */
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

/** The events that an endpoint can subscribe to. */
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
  'template.category_changing',
] as const satisfies (
  | MessageEvent
  | WhatsAppAccountEvent
  | EndpointFailingEvent
  | TemplateEvent
  | RecipientEvent
)['type'][]
export type EventType = (typeof eventTypes)[number]

/** The events that an endpoint subscribes to by default. */
export const defaultEventTypes: readonly EventType[] = ['message.delivered', 'message.read', 'message.failed']
