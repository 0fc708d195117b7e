import { z } from 'zod'
import {
  listMessages as publicListMessages,
  Message,
  MessagePage,
  MessagePreview,
  type SendMessageRequest,
  templateValues,
} from '../api/message.ts'
import { replyKinds } from '../events.ts'
import { MessageId, singleLine, Timestamp } from '../fields.ts'
import { accountInput, ownerChange, viewerQuery } from '../procedure.ts'
import { changes } from '../facts/changes.ts'
import { Facts } from './facts.ts'
import { Delivery } from './webhook.ts'

const { cursor, limit: _, ...filters } = publicListMessages.input.shape

/** For exports; the log shows fewer. */
export const maxListed = 1_000

/** Whether WhatsApp rejected a message, or accepted it and reported the failure later. */
export const FailureStage = z.enum(['rejected', 'undelivered'])
export type FailureStage = z.infer<typeof FailureStage>

/** ISO 3166, in capitals. Territories that share a calling code count as its main country. */
export const Country = z.string().regex(/^[A-Z]{2}$/, 'must be a country code such as ES')

/** The filters of the API's `message.list`, further filters, and a search. */
const messageFilters = {
  ...filters,
  whatsAppAccountId: singleLine(64)
    .optional()
    .describe('Only messages from this WhatsApp account, which is one number.'),
  country: Country.optional().describe('Only messages to numbers with a calling code of this country.'),
  failure: FailureStage.optional().describe('Only failed messages that WhatsApp rejected, or that it had accepted.'),
  outcomeUnknown: z
    .literal(true)
    .optional()
    .describe('Only messages that are pending for more than a minute, because the response of WhatsApp was lost.'),
  search: singleLine(255)
    .optional()
    .describe(
      'A message ID or its start, a wamid, an external ID, a number or a template name; the last three in part.',
    ),
  parts: z
    .boolean()
    .optional()
    .describe('Search for parts, even if a recipient or an external ID matches the search exactly.'),
}

/**
 * `meaning` explains in plain words why it failed; `error` has WhatsApp's text. `pricing`: the category that WhatsApp
 * reported, and why the message was free, such as `utility` or `utility/free_entry_point`.
 */
export const ListedMessage = Message.extend({
  meaning: z.string().optional(),
  facts: Facts.optional(),
  pricing: z.string().optional(),
})
export type ListedMessage = z.infer<typeof ListedMessage>

export const listMessages = viewerQuery({
  summary: 'List messages, the newest first',
  input: accountInput({ ...messageFilters, cursor, limit: z.int().min(1).max(maxListed).default(20) }),
  output: MessagePage.extend({
    items: z.array(ListedMessage),
    /** What the search matched; absent without a search. */
    matched: z.enum(['messageId', 'waMessageId', 'recipient', 'externalId', 'parts']).optional(),
    /** The digits that were searched for, if a prefix was removed: `34600111222` for `0034600111222`. */
    lookedFor: z.string().optional(),
  }),
})

/** Examines a bounded number of messages, so a large count is an estimate. */
export const countMessages = viewerQuery({
  summary: 'Count the messages that match the filters',
  input: accountInput(messageFilters),
  output: z.object({
    count: z.int(),
    /** `minimum`: there are at least this many. */
    kind: z.enum(['exact', 'estimate', 'minimum']),
  }),
})
export type MessageCount = z.infer<(typeof countMessages)['output']>

/** Covers all failed messages that match, not only one page. Examines a bounded number of messages. */
export const listFailureReasons = viewerQuery({
  summary: 'Count the failed messages that match the filters by reason',
  input: accountInput(messageFilters),
  output: z.object({
    /** The most frequent first, at most ten. */
    reasons: z.array(z.object({ code: z.string(), meaning: z.string(), facts: Facts.optional(), count: z.int() })),
    /** Failed messages with less frequent reasons. */
    others: z.int(),
    /** How many messages were examined; present only if there are older ones. */
    examined: z.int().optional(),
  }),
})
export type FailureReasons = z.infer<(typeof listFailureReasons)['output']>

/** WhatsApp's code in plain words. */
export const FailureAdvice = z.object({
  /** The cause, such as `The recipient has no WhatsApp.` */
  meaning: z.string(),
  /** What the reader can do about it. */
  advice: z.string(),
  facts: Facts.optional(),
})
export type FailureAdvice = z.infer<typeof FailureAdvice>

export const MessageDelivery = Delivery.extend({
  endpointId: z.string(),
  url: z.string(),
  /** The body of the webhook. Absent if the event is no longer kept, or if an operator views the account. */
  payload: z.string().optional(),
})

/** A reply in a stored event. What the recipient wrote is only in the event. */
export const StoredReply = z.object({
  at: Timestamp,
  kind: z.enum(replyKinds),
  /** The label of the button. Absent if an operator views the account. */
  label: z.string().optional(),
})
export type StoredReply = z.infer<typeof StoredReply>

export const getMessage = viewerQuery({
  summary: 'Read one message with its status, replies and webhook deliveries',
  input: accountInput({ messageId: MessageId }),
  output: z.object({
    message: Message,
    /** Present only when the message failed. */
    failure: FailureAdvice.optional(),
    /** Oldest first. Absent are those whose event is no longer kept. */
    replies: z.array(StoredReply),
    /** Deliveries to all endpoints, oldest first, at most 100. */
    deliveries: z.array(MessageDelivery),
  }),
})

/** The values with which a request filled the template. */
export type StoredValues = Pick<
  SendMessageRequest,
  'variables' | 'header' | 'buttons' | 'cards' | 'limitedTimeOffer' | 'components'
>

/** The content of a message. Accounts choose whether Waybill stores it. */
export const MessageContent = z.object({
  // Not validated again: it was validated when the message was sent.
  values: z.custom<StoredValues>(),
  /** As the recipient saw it, even if the template has changed since. */
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

export const getMessageContent = viewerQuery({
  membersOnly: true,
  summary: 'Read what a message said, if the account stores it',
  input: accountInput({ messageId: MessageId }),
  output: z.discriminatedUnion('state', [
    z.object({
      state: z.literal('stored'),
      content: MessageContent,
      /** Whether the same values would produce a different message today. */
      templateChanged: z.boolean(),
    }),
    z.object({
      /**
       * `off`: the account stores no contents. `not_stored`: contents were not stored when the message was sent, the
       * content has expired, the recipient was erased, or it has a one-time code. `unreadable`: no key of this server
       * decrypts it.
       */
      state: z.enum(['off', 'not_stored', 'unreadable']),
    }),
  ]),
})

/** The outcome of a message that was sent from the dashboard. */
export const SentFromDashboard = z.object({
  /** The message is in the log, whatever its outcome. */
  messageId: z.string(),
  /** `sent`: WhatsApp accepted it. `pending`: WhatsApp's response was lost, so the message may have been sent. */
  status: z.enum(['sent', 'failed', 'pending']),
  /** Present only when it failed. */
  failure: FailureAdvice.optional(),
})

// One-time codes are not repeated: the user requests a new one.
const { code: _code, ...repeatableValues } = templateValues

/** After `failed`, a retry with the same idempotency key sends again. A later status from WhatsApp still applies. */
export const resolveMessage = ownerChange({
  summary: 'Set the outcome of a message whose outcome is unknown to what you found out',
  input: accountInput({ messageId: MessageId, as: z.enum(['failed', 'sent']) }),
  output: z.object({ messageId: z.string(), status: z.enum(['failed', 'sent']) }),
  audit: changes.resolveMessage,
})

/** Sends a new message from the same number. It counts towards the rate limit of the API. */
export const sendMessageAgain = ownerChange({
  summary: 'Send a message again: the same template, language, recipient and external ID',
  input: accountInput({ messageId: MessageId, ...repeatableValues }),
  output: SentFromDashboard,
  audit: changes.sendMessageAgain,
})
