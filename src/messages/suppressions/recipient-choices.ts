import type { Kysely } from 'kysely'
import type { recipientReasons } from '../../../contracts/api/suppression.ts'
import type { RecipientEvent } from '../../../contracts/events.ts'
import { erasedRecipient } from '../../../contracts/fields.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import { recordEvents, type UnrecordedEvent } from '../../webhooks/events.ts'
import type { RecordedMessage } from '../message.ts'
import { type AppliedChoice, applyChoices, type Choice } from './choices-store.ts'

/** A decision of a recipient, and the message that it came with. */
export interface RecipientChoice extends Choice {
  reason: (typeof recipientReasons)[number]
  whatsAppAccountId: string
  message?: Pick<RecordedMessage, 'id' | 'externalId'>
}

/** Stores the decisions of recipients, and returns the events of those that changed something. */
export async function applyRecipientChoices(
  trx: Kysely<Database>,
  choices: readonly RecipientChoice[],
  deps: Pick<Deps, 'newId' | 'secrets'>,
): Promise<UnrecordedEvent[]> {
  // A status or a reply can arrive after the recipient of its message was erased.
  const known = choices.filter(({ recipient }) => recipient !== erasedRecipient)
  return known.length === 0 ? [] : (await applyChoices(trx, known, deps)).map(toUnrecordedEvent)
}

/** WhatsApp's code for a recipient who has opted out of marketing messages. */
export const optedOutCode = '131050'

/** Returns the opt-out of the recipient whose message WhatsApp rejected for that reason. */
export function toRejectedChoice(message: RecordedMessage, at: Date): RecipientChoice {
  return {
    accountId: message.accountId,
    recipient: message.to,
    choice: 'out',
    reason: 'rejected',
    at,
    whatsAppAccountId: message.whatsAppAccountId,
    message,
  }
}

/** Suppresses the recipient of a send that WhatsApp rejected with 131050. */
export async function suppressRejected(
  deps: Pick<Deps, 'db' | 'newId' | 'randomBytes' | 'announcements' | 'secrets'>,
  message: RecordedMessage,
  at: Date,
): Promise<void> {
  const events = await deps.db.transaction().execute(async (trx) => {
    const changes = await applyRecipientChoices(trx, [toRejectedChoice(message, at)], deps)
    await recordEvents(trx, changes, deps)
    return changes
  })
  if (events.length > 0) deps.announcements.announce('deliveries')
}

function toUnrecordedEvent({ choice, to, userId }: AppliedChoice<RecipientChoice>): UnrecordedEvent {
  const { accountId, at, reason, whatsAppAccountId, message } = choice
  const event: RecipientEvent = {
    type: choice.choice === 'out' ? 'recipient.opted_out' : 'recipient.opted_in',
    timestamp: at.toISOString(),
    data: {
      to,
      ...(userId !== undefined && { userId }),
      accountId: whatsAppAccountId,
      reason,
      ...(message && { messageId: message.id }),
      ...(message && message.externalId !== null && { externalId: message.externalId }),
    },
  }
  // The column contains the ID of the event's subject.
  return { accountId, type: event.type, messageId: message?.id ?? whatsAppAccountId, payload: JSON.stringify(event) }
}
