import { z } from 'zod'
import { listMessages as publicListMessages, Message, MessagePage, templateValues } from '../api/message.ts'
import { line, MessageId } from '../fields.ts'
import { ofAccount, dashboardProcedure } from '../procedure.ts'
import { changes } from './changes.ts'
import { Delivery } from './webhook.ts'

const { cursor, limit, ...filters } = publicListMessages.input.shape

/** The filters of `message.list` (contracts/api/message.ts), and a search. */
const messageFilters = {
  ...filters,
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

export const listMessages = dashboardProcedure({
  kind: 'query',
  allowed: 'viewer',
  summary: 'List messages, the newest first',
  input: ofAccount({ ...messageFilters, cursor, limit }),
  output: MessagePage.extend({
    /** What the search matched. Absent without a search. */
    matched: z.enum(['messageId', 'waMessageId', 'recipient', 'externalId', 'parts']).optional(),
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
