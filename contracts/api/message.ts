import { z } from 'zod'
import {
  namedObject,
  WhatsAppAccountId,
  AddressedUserId,
  responseField,
  ExternalId,
  FailureCode,
  idCursor,
  KnownUserId,
  LanguageCode,
  MessageId,
  MessageIdInPath,
  NextCursor,
  PageLimit,
  PhoneNumber,
  TemplateName,
  requireRecipient,
  Timestamp,
  UserId,
  WaId,
  WaMessageId,
  withExample,
} from '../fields.ts'
import { changes } from '../facts/changes.ts'
import { CostEstimate } from '../pricing.ts'
import { procedure } from '../procedure.ts'
import {
  componentLimits,
  LimitedTimeOffer,
  MessageButtons,
  MessageCard,
  MessageHeader,
  OneTimeCode,
  RawComponents,
  Variables,
} from './components.ts'

export const messageStatuses = ['pending', 'sent', 'delivered', 'read', 'failed'] as const

export const MessageStatus = z
  .enum(messageStatuses)
  .describe(
    '`pending`: recorded, outcome not known yet. `sent`: accepted by WhatsApp. `delivered`, `read`: reported by WhatsApp. `failed`: rejected when it was sent, or reported by WhatsApp.',
  )
  .meta({ id: 'MessageStatus', examples: ['delivered'] })
export type MessageStatus = z.infer<typeof MessageStatus>

/** The values of a template. */
export const templateValues = {
  variables: Variables.optional(),
  header: MessageHeader.optional(),
  buttons: MessageButtons.optional().describe('Values of the buttons that take one. Their order does not matter.'),
  code: OneTimeCode.optional(),
  cards: z
    .array(MessageCard)
    .max(componentLimits.cards, `must have at most ${componentLimits.cards} cards`)
    .optional()
    .describe('The cards of a carousel, in the order of the template. All of them are needed.'),
  limitedTimeOffer: LimitedTimeOffer.optional(),
  components: RawComponents.optional(),
}

export const SendMessageRequest = requireRecipient(
  z.strictObject({
    to: PhoneNumber.optional(),
    recipient: UserId.optional(),
    template: TemplateName.describe('Name of a template with status APPROVED.'),
    language: LanguageCode,
    ...templateValues,
    externalId: ExternalId.optional(),
    accountId: WhatsAppAccountId.optional(),
  }),
)
  .describe('A template message to one recipient. It needs `to` or `recipient`; with both, `to` counts.')
  .meta({ id: 'SendMessageRequest' })
export type SendMessageRequest = z.infer<typeof SendMessageRequest>

const ReturnedExternalId = responseField(ExternalId).describe(
  "The caller's reference; present only when it was provided.",
)

export const SentMessage = namedObject('SentMessage', 'A message that WhatsApp accepted.', {
  messageId: responseField(MessageId),
  waMessageId: WaMessageId,
  status: z.literal('sent').describe('`sent`: WhatsApp accepted the message. Later statuses arrive by webhook.'),
  to: responseField(PhoneNumber).describe('Recipient as sent: the number, or the user ID.'),
  recipient: AddressedUserId.optional(),
  userId: KnownUserId.optional(),
  template: responseField(TemplateName).describe('Template name used.'),
  externalId: ReturnedExternalId.optional(),
})
export type SentMessage = z.infer<typeof SentMessage>

export const PreviewMedia = namedObject('PreviewMedia', 'What a header without text shows.', {
  type: withExample(z.string(), '`image`, `video`, `document`, `location` or `product`.', 'document'),
  link: withExample(
    z.string().optional(),
    'Address that WhatsApp downloads the file from.',
    'https://example.com/invoice.pdf',
  ),
  mediaId: withExample(z.string().optional(), 'ID of the uploaded file.', '1037543291543636'),
  filename: withExample(z.string().optional(), 'Name of a document.', 'invoice.pdf'),
  name: withExample(z.string().optional(), 'Name of a place.', 'Depot 7'),
  address: withExample(z.string().optional(), 'Address of a place.', 'Ringstr. 1, Munich'),
  latitude: withExample(z.number().optional(), 'Latitude of a place.', 48.1374),
  longitude: withExample(z.number().optional(), 'Longitude of a place.', 11.5755),
  productId: withExample(z.string().optional(), 'ID of a product in its catalogue.', 'sku-1'),
})
export type PreviewMedia = z.infer<typeof PreviewMedia>

export const PreviewButton = namedObject('PreviewButton', 'A button as its recipient would see it.', {
  index: withExample(z.int(), 'Position among all buttons, starting with 0.', 0),
  type: withExample(z.string(), '`QUICK_REPLY`, `URL`, `PHONE_NUMBER` or another type that WhatsApp defines.', 'URL'),
  text: withExample(z.string(), 'Label of the button.', 'Track my order'),
  url: withExample(
    z.string().optional(),
    'Address that a URL button opens, with its variable filled in.',
    'https://example.com/track/WB-1042',
  ),
  payload: withExample(
    z.string().optional(),
    'Returned by WhatsApp when the recipient taps a quick-reply button.',
    'order-1042:yes',
  ),
  couponCode: withExample(z.string().optional(), 'Code that a copy-code button copies.', 'SPRING9'),
})
export type PreviewButton = z.infer<typeof PreviewButton>

export const PreviewCard = namedObject('PreviewCard', 'A card of a carousel as its recipient would see it.', {
  headerMedia: PreviewMedia.optional().describe('What the card shows on top.'),
  body: withExample(z.string().optional(), 'Text of the card with its variables filled in.', 'Aloe vera, 15 cm'),
  buttonDetails: z.array(PreviewButton).optional().describe('Buttons of the card.'),
})
export type PreviewCard = z.infer<typeof PreviewCard>

export const MessagePreview = namedObject('MessagePreview', 'A message as its recipient would see it.', {
  to: responseField(PhoneNumber).describe('Recipient: the number, or the user ID.'),
  recipient: AddressedUserId.optional(),
  template: responseField(TemplateName),
  language: responseField(LanguageCode),
  accountId: responseField(WhatsAppAccountId).describe('ID of the WhatsApp account that would send.'),
  header: withExample(
    z.string().optional(),
    'Header text with its variable filled in, if the template has one.',
    'Your order',
  ),
  headerMedia: PreviewMedia.optional().describe('What the header shows instead of a text.'),
  body: withExample(
    z.string(),
    'Body text with the variables filled in.',
    'Hello Ada, your order WB-1042 is on its way.',
  ),
  footer: withExample(z.string().optional(), 'Footer text, if the template has one.', 'Waybill Demo Shop'),
  buttons: withExample(z.array(z.string()).optional(), 'Button labels, if the template has buttons.', [
    'Track my order',
  ]),
  buttonDetails: z.array(PreviewButton).optional().describe('The same buttons with what they open, copy or return.'),
  cards: z.array(PreviewCard).optional().describe('Cards of a carousel.'),
  costEstimate: CostEstimate.optional().describe(
    'What WhatsApp charges if the message is delivered, by the imported rate card. Absent if there is no rate. The invoice of Meta decides.',
  ),
})
export type MessagePreview = z.infer<typeof MessagePreview>

export const MessageError = namedObject('MessageError', 'Why a message failed.', {
  code: withExample(
    z.string(),
    "WhatsApp's error code, such as `131026`, or one of ours when WhatsApp gave none.",
    '131026',
  ),
  message: withExample(z.string(), 'What went wrong, in words.', 'Message undeliverable'),
})

export const Message = namedObject('Message', 'A message with its status.', {
  messageId: responseField(MessageId),
  waMessageId: WaMessageId.optional().describe(
    'Message ID assigned by WhatsApp; absent until WhatsApp accepted the message. It contains the recipient number.',
  ),
  status: MessageStatus,
  to: responseField(PhoneNumber).describe(
    'Recipient as sent: the number, or the user ID; `erased` after the recipient was erased.',
  ),
  recipient: AddressedUserId.optional(),
  waId: WaId.optional(),
  userId: KnownUserId.optional(),
  template: responseField(TemplateName).describe('Template name used.'),
  language: responseField(LanguageCode),
  accountId: responseField(WhatsAppAccountId).describe('ID of the WhatsApp account that sends.'),
  externalId: ReturnedExternalId.optional(),
  createdAt: Timestamp.describe('When the message was recorded.'),
  sentAt: Timestamp.optional().describe('When WhatsApp accepted the message.'),
  deliveredAt: Timestamp.optional().describe(
    'When it reached the recipient; the time when it was read, if WhatsApp reported no delivery.',
  ),
  readAt: Timestamp.optional().describe('When the recipient read it.'),
  failedAt: Timestamp.optional().describe('When it failed.'),
  error: MessageError.optional().describe('Why it failed; present only when `status` is `failed`.'),
})
export type Message = z.infer<typeof Message>

export const MessagePage = namedObject('MessagePage', 'One page of messages.', {
  items: z.array(Message).describe('Newest first.'),
  nextCursor: NextCursor.optional().meta({ examples: ['msg_01kah3b9mzf5vt2d0wq8r6x4ye'] }),
})
export type MessagePage = z.infer<typeof MessagePage>

const exampleSend = {
  to: '34600111222',
  template: 'order_shipped',
  language: 'en',
  variables: { '1': 'Ada', '2': 'WB-1042' },
  externalId: 'order-1042',
}

const exampleMessage = {
  messageId: 'msg_01kah3b9mzf5vt2d0wq8r6x4ye',
  waMessageId: 'wamid.HBgLMzQ2MDAxMTEyMjIVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA',
  status: 'delivered',
  to: '34600111222',
  template: 'order_shipped',
  language: 'en',
  accountId: 'wa_01kah39zr4e8m5n6p7q8s9t0vw',
  externalId: 'order-1042',
  createdAt: '2026-11-20T09:30:00.000Z',
  sentAt: '2026-11-20T09:30:00.214Z',
  deliveredAt: '2026-11-20T09:30:02.000Z',
} as const

export const sendMessage = procedure({
  kind: 'mutation',
  budget: 'sends',
  path: '/api/v1/message/send',
  tag: 'Messages',
  summary: 'Send a template message to one recipient',
  description:
    'Sends one approved template to one recipient. `sent` means that WhatsApp accepted the message; webhooks report delivery, reads and failures. With an `Idempotency-Key`, a retry returns the stored result and never sends twice.',
  input: SendMessageRequest,
  output: SentMessage,
  errors: [
    'TEMPLATE_NOT_FOUND',
    'NO_ACTIVE_ACCOUNT',
    'IDEMPOTENCY_KEY_IN_USE',
    'IDEMPOTENCY_KEY_REUSED',
    'MESSAGE_REJECTED',
    'MEDIA_REJECTED',
    'RECIPIENT_SUPPRESSED',
    'WHATSAPP_THROTTLED',
    'WHATSAPP_UNAVAILABLE',
    'SEND_OUTCOME_UNKNOWN',
  ],
  idempotent: true,
  example: {
    input: exampleSend,
    output: {
      messageId: exampleMessage.messageId,
      waMessageId: exampleMessage.waMessageId,
      status: 'sent',
      to: exampleSend.to,
      template: exampleSend.template,
      externalId: exampleSend.externalId,
    },
  },
})

export const previewMessage = procedure({
  kind: 'mutation',
  budget: 'changes',
  readOnly: true,
  path: '/api/v1/message/preview',
  tag: 'Messages',
  summary: 'Check a message and see its text, without sending it',
  description:
    'Takes the body of a send, checks everything that a send checks, and returns the text the recipient would see. Sends and stores nothing, and does not count against the rate limit.',
  input: SendMessageRequest,
  output: MessagePreview,
  errors: ['TEMPLATE_NOT_FOUND', 'NO_ACTIVE_ACCOUNT', 'RECIPIENT_SUPPRESSED'],
  example: {
    input: exampleSend,
    output: {
      to: exampleSend.to,
      template: exampleSend.template,
      language: exampleSend.language,
      accountId: exampleMessage.accountId,
      body: 'Hello Ada, your order WB-1042 is on its way.',
      footer: 'Waybill Demo Shop',
    },
  },
})

export const getMessage = procedure({
  kind: 'query',
  budget: 'reads',
  path: '/api/v1/message/{messageId}',
  tag: 'Messages',
  summary: 'Get one message with its status',
  description: 'Returns one message of this account: its status, the time of each step, and why it failed if it did.',
  input: z.strictObject({ messageId: MessageIdInPath }),
  output: Message,
  errors: ['MESSAGE_NOT_FOUND'],
  example: {
    input: { messageId: exampleMessage.messageId },
    output: exampleMessage,
    errors: { VALIDATION_ERROR: 'messageId: must have at most 64 characters.' },
  },
})

/** What the lists of messages take. */
const messageFilters = {
  externalId: ExternalId.optional().describe('Only messages with this reference.'),
  to: PhoneNumber.optional().describe(
    'Only messages to this recipient, in any spelling of the number and to any user ID that WhatsApp reported with it.',
  ),
  recipient: UserId.optional().describe('Only messages to this recipient, also to the number if it is known.'),
  template: TemplateName.optional().describe('Only messages of this template.'),
  status: withExample(MessageStatus.optional(), 'Only messages with this status.', 'failed'),
  errorCode: FailureCode.optional().describe(
    "Only messages that failed with this code: WhatsApp's or one of ours. `UNKNOWN` if WhatsApp gave none.",
  ),
  from: Timestamp.optional().describe('Only messages recorded at or after this time.'),
  until: Timestamp.optional().describe('Only messages recorded before this time.'),
}

const MessageCursor = idCursor('msg')
  .optional()
  .meta({ examples: ['msg_01kah3b9mzf5vt2d0wq8r6x4ye'] })

export const listMessages = procedure({
  kind: 'query',
  budget: 'reads',
  path: '/api/v1/message',
  tag: 'Messages',
  summary: 'List messages, newest first',
  description:
    'Lists the messages of this account, newest first, one page at a time. Filters combine. A page looks through 50,000 messages at most: with `status`, `errorCode` or `template`, it can hold fewer than `limit`, even none, and have a `nextCursor` all the same.',
  input: z.strictObject({ ...messageFilters, cursor: MessageCursor, limit: PageLimit }),
  output: MessagePage,
  errors: [],
  example: {
    input: { externalId: exampleSend.externalId },
    output: { items: [exampleMessage] },
    errors: { VALIDATION_ERROR: 'limit: must be at most 100.' },
  },
})

/** The media type of each format. */
export const exportTypes = { ndjson: 'application/x-ndjson', csv: 'text/csv' } as const

/**
 * Served over REST only: tRPC and MCP answer with one JSON value, which a client holds in memory as a whole. The output is
 * the text of the response; a client reads it line by line.
 */
export const exportMessages = procedure({
  kind: 'query',
  budget: 'exports',
  path: '/api/v1/message/export',
  tag: 'Messages',
  summary: 'Export messages as NDJSON or CSV, newest first',
  description:
    'Streams all matching messages, newest first: one `Message` per line, or CSV (RFC 4180) with a header row. A failure after the first byte closes the connection before the last chunk; continue with the last complete `messageId` as `cursor`. An account has one export at a time per process, 30 per hour.',
  input: z.strictObject({
    format: withExample(
      z.enum(['ndjson', 'csv']).default('ndjson'),
      '`ndjson`: one JSON object per line. `csv`: one row per message.',
      'ndjson',
    ),
    ...messageFilters,
    cursor: withExample(
      MessageCursor,
      'The last `messageId` received, to continue after it.',
      'msg_01kah3b9mzf5vt2d0wq8r6x4ye',
    ),
  }),
  output: z.string().describe('The messages, newest first.'),
  streams: Object.values(exportTypes),
  audit: () => changes.exportMessagesByApi(),
  errors: [],
  example: {
    input: { externalId: exampleSend.externalId },
    output: `${JSON.stringify(exampleMessage)}\n`,
    errors: {
      VALIDATION_ERROR: 'format: must be one of ndjson, csv.',
      RATE_LIMIT_EXCEEDED: 'This account already has an export in progress. Try again in 30 seconds.',
    },
  },
})
