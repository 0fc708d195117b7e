import type { Kysely } from 'kysely'
import type { recipientReasons } from '../../../contracts/api/suppression.ts'
import type { RecipientEvent } from '../../../contracts/events.ts'
import { erasedRecipient } from '../../../contracts/fields.ts'
import { optInWords, optOutWords } from '../../../contracts/opt-out-words.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import { recordEvents, toUnrecordedEvent, type UnrecordedEvent } from '../../webhooks/events.ts'
import type { UserReply } from '../../whatsapp/callbacks/read-reply.ts'
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
  deps: Pick<Deps, 'newId' | 'secrets'>,
  trx: Kysely<Database>,
  choices: readonly RecipientChoice[],
): Promise<UnrecordedEvent[]> {
  // A status or a reply can arrive after the recipient of its message was erased.
  const known = choices.filter(({ recipient }) => recipient !== erasedRecipient)
  return known.length === 0 ? [] : (await applyChoices(deps, trx, known)).map(toChoiceEvent)
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
  deps: Pick<Deps, 'db' | 'newId' | 'randomBytes' | 'notifications' | 'secrets'>,
  message: RecordedMessage,
  at: Date,
): Promise<void> {
  const events = await deps.db.transaction().execute(async (trx) => {
    const changes = await applyRecipientChoices(deps, trx, [toRejectedChoice(message, at)])
    await recordEvents(deps, trx, changes)
    return changes
  })
  if (events.length > 0) deps.notifications.notify('deliveries')
}

function toChoiceEvent({ choice, to, userId }: AppliedChoice<RecipientChoice>): UnrecordedEvent {
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
  return toUnrecordedEvent({ accountId, id: message?.id ?? whatsAppAccountId }, event)
}

const choices = new Map<string, 'out' | 'in'>([
  ...Object.values(optOutWords).flatMap((words) => words.map((word) => [word, 'out'] as const)),
  ...Object.values(optInWords).flatMap((words) => words.map((word) => [word, 'in'] as const)),
])

/** No keyword is longer, so longer texts are skipped. */
const maxCharacters = 40

/**
 * Returns the opt-out or opt-in of a reply; undefined if it is neither. Flows are ignored, because they contain form answers; so are
 * shared numbers.
 */
export function readChoice({ kind, text, payload }: Pick<UserReply, 'kind' | 'text' | 'payload'>) {
  if (kind === 'flow' || kind === 'contact') return undefined
  return findChoice(text) ?? (kind === 'button' ? findChoice(payload) : undefined)
}

function findChoice(text: string | undefined): 'out' | 'in' | undefined {
  if (text === undefined || text.length > maxCharacters) return undefined
  // Keyboards capitalize the first letter. Some people end with a full stop, or repeat the quotes of "Reply 'STOP'".
  return choices.get(
    text
      .normalize('NFKC')
      .replaceAll(/\p{Cf}/gu, '')
      .toLowerCase()
      .replaceAll(/^[\s\p{Pi}\p{Pf}"'¡]+|[\s\p{Pi}\p{Pf}"'.!]+$/gu, '')
      .replaceAll(/\s+/g, ' '),
  )
}
