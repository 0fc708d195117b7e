import { z } from 'zod'
import {
  listMessages as publicListMessages,
  Message,
  MessagePage,
  MessagePreview,
  type SendMessageRequest,
  templateValues,
} from '../api/message.ts'
import { line, MessageId } from '../fields.ts'
import { ofAccount, dashboardProcedure } from '../procedure.ts'
import { changes } from './changes.ts'
import { Delivery } from './webhook.ts'

const { cursor, limit, ...filters } = publicListMessages.input.shape

/** How a message failed: WhatsApp rejected it, or accepted it and reported the failure later. */
export const FailureStage = z.enum(['rejected', 'undelivered'])
export type FailureStage = z.infer<typeof FailureStage>

/** ISO 3166, in capitals. Territories that share a calling code count as its main country. */
export const Country = z.string().regex(/^[A-Z]{2}$/, 'must be a country code such as ES')

/** The filters of `message.list` (contracts/api/message.ts), more of them, and a search. */
const messageFilters = {
  ...filters,
  whatsAppAccountId: line(64).optional().describe('Only messages from this WhatsApp account, which is one number.'),
  country: Country.optional().describe('Only messages to numbers with a calling code of this country.'),
  failure: FailureStage.optional().describe('Only failed messages that WhatsApp rejected, or accepted before.'),
  search: line(255)
    .optional()
    .describe(
      'A message ID or its start, a wamid, an external ID, a number or a template name; the last three in part.',
    ),
  parts: z
    .boolean()
    .optional()
    .describe('Search for parts, even if a recipient or an external ID matches the search exactly.'),
}

/** `meaning`: why it failed, in plain words. `error` has WhatsApp's. */
export const ListedMessage = Message.extend({ meaning: z.string().optional() })
export type ListedMessage = z.infer<typeof ListedMessage>

export const listMessages = dashboardProcedure({
  kind: 'query',
  allowed: 'viewer',
  summary: 'List messages, the newest first',
  input: ofAccount({ ...messageFilters, cursor, limit }),
  output: MessagePage.extend({
    items: z.array(ListedMessage),
    /** What the search matched. Absent without a search. */
    matched: z.enum(['messageId', 'waMessageId', 'recipient', 'externalId', 'parts']).optional(),
    /** The digits that were looked for in numbers, if a prefix was left out: `34600111222` for `0034600111222`. */
    lookedFor: z.string().optional(),
  }),
})

/** Examines a bounded number of messages, so a large count is an estimate. */
export const countMessages = dashboardProcedure({
  kind: 'query',
  allowed: 'viewer',
  summary: 'Count the messages that match the filters',
  input: ofAccount(messageFilters),
  output: z.object({
    count: z.int(),
    /** `minimum`: there are at least so many. */
    kind: z.enum(['exact', 'estimate', 'minimum']),
  }),
})
export type MessageCount = z.infer<(typeof countMessages)['output']>

/** Of all failed messages that match, also those on later pages. Examines a bounded number of messages. */
export const listFailureReasons = dashboardProcedure({
  kind: 'query',
  allowed: 'viewer',
  summary: 'Count the failed messages that match the filters by reason',
  input: ofAccount(messageFilters),
  output: z.object({
    /** The most frequent first, at most ten. */
    reasons: z.array(z.object({ code: z.string(), meaning: z.string(), count: z.int() })),
    /** Failed messages with other reasons. */
    others: z.int(),
    /** Present if only the newest messages were examined: how many. */
    examined: z.int().optional(),
  }),
})
export type FailureReasons = z.infer<(typeof listFailureReasons)['output']>

/** WhatsApp's code in plain words. */
export const FailureAdvice = z.object({
  /** What happened, such as `The recipient has no WhatsApp.` */
  meaning: z.string(),
  /** What the reader can do about it. */
  advice: z.string(),
})
export type FailureAdvice = z.infer<typeof FailureAdvice>

export const MessageDelivery = Delivery.extend({
  endpointId: z.string(),
  url: z.string(),
  /** The body of the webhook. Absent when the event is no longer kept. */
  payload: z.string().optional(),
})

export const getMessage = dashboardProcedure({
  kind: 'query',
  allowed: 'viewer',
  summary: 'Read one message with its status and webhook deliveries',
  input: ofAccount({ messageId: MessageId }),
  output: z.object({
    message: Message,
    /** Present only when the message failed. */
    failure: FailureAdvice.optional(),
    /** Those of every endpoint; the oldest first, and at most a hundred. */
    deliveries: z.array(MessageDelivery),
  }),
})

/** What a request brought to fill the template. */
export type StoredValues = Pick<
  SendMessageRequest,
  'variables' | 'header' | 'buttons' | 'cards' | 'limitedTimeOffer' | 'components'
>

/** What a message said. Accounts choose whether Waybill stores it. */
export const MessageContent = z.object({
  // Checked when the message was sent.
  values: z.custom<StoredValues>(),
  /** As the recipient saw it, whatever became of the template. */
  shown: MessagePreview.pick({
    header: true,
    headerMedia: true,
    body: true,
    footer: true,
    buttonDetails: true,
    cards: true,
  }).extend({ offer: z.string().optional() }),
})
export type MessageContent = z.infer<typeof MessageContent>

export const getMessageContent = dashboardProcedure({
  kind: 'query',
  allowed: 'viewer',
  membersOnly: true,
  summary: 'Read what a message said, if the account stores it',
  input: ofAccount({ messageId: MessageId }),
  output: z.discriminatedUnion('state', [
    z.object({
      state: z.literal('stored'),
      content: MessageContent,
      /** Whether the same values would make another message today. */
      templateChanged: z.boolean(),
    }),
    z.object({
      /**
       * `off`: the account stores no contents. `not_stored`: it did not when the message was sent, the content has
       * expired, its recipient was erased, or it has a one-time code. `unreadable`: no key of this server decrypts it.
       */
      state: z.enum(['off', 'not_stored', 'unreadable']),
    }),
  ]),
})

/** The outcome of a message that was sent from the dashboard. */
export const SentFromDashboard = z.object({
  /** It is in the log, whatever came of it. */
  messageId: z.string(),
  /** `sent`: WhatsApp took it. `pending`: its answer never came, so it may have been sent or not. */
  status: z.enum(['sent', 'failed', 'pending']),
  /** Present only when it failed. */
  failure: FailureAdvice.optional(),
})

// Whoever waits for a one-time code asks for a new one.
const { code: _code, ...repeatableValues } = templateValues

/** Sends a new message from the same number. It counts against the rate limit of the API. */
export const sendMessageAgain = dashboardProcedure({
  kind: 'mutation',
  allowed: 'owner',
  summary: 'Send a message again: the same template, language, recipient and external ID',
  input: ofAccount({ messageId: MessageId, ...repeatableValues }),
  output: SentFromDashboard,
  audit: ({ messageId }) => changes.sendMessageAgain(messageId),
})
