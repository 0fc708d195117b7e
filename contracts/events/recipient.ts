import { z } from 'zod'
import { recipientReasons } from '../api/suppression.ts'
import { ExternalId, KnownUserId, MessageId, PhoneNumber, responseField, WhatsAppAccountId } from '../fields.ts'
import { defineEvent, sharedExample, type Texts } from './event.ts'

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

export const RecipientOptedOutEvent = defineEvent({
  type: 'recipient.opted_out',
  id: 'RecipientOptedOutEvent',
  summary: 'A recipient opted out',
  description: 'A recipient opted out and is on the suppression list now.',
  texts: ofRecipient,
  schema: RecipientFacts,
  example: {
    timestamp: '2026-11-20T09:36:12.000Z',
    data: {
      to: sharedExample.to,
      accountId: sharedExample.accountId,
      reason: 'reply',
      messageId: sharedExample.messageId,
      externalId: sharedExample.externalId,
    },
  },
})

export const RecipientOptedInEvent = defineEvent({
  type: 'recipient.opted_in',
  id: 'RecipientOptedInEvent',
  summary: 'A recipient opted in again',
  description: 'A recipient opted in again and is no longer on the suppression list.',
  texts: ofRecipient,
  schema: RecipientFacts,
  example: {
    timestamp: '2026-11-20T10:02:40.000Z',
    data: { to: sharedExample.to, accountId: sharedExample.accountId, reason: 'preference' },
  },
})

/** Opt-outs and opt-ins by recipients. Changes by users are not reported. */
export const RecipientEvent = z.discriminatedUnion('type', [RecipientOptedOutEvent, RecipientOptedInEvent])
export type RecipientEvent = z.infer<typeof RecipientEvent>
