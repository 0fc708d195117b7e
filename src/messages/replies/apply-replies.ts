import type { MessageEvent } from '../../../contracts/events.ts'
import type { Caused } from '../../platform/db/traced.ts'
import { recordEvents, type UnrecordedEvent } from '../../webhooks/events/store.ts'
import { type IdentityChange, isKnown, type WhatsAppIdentity } from '../../whatsapp/callbacks/read-identity.ts'
import type { UserPreferenceChange, UserReply } from '../../whatsapp/callbacks/read-reply.ts'
import { type ApplyDeps, batchedByAccount } from '../batched-by-account.ts'
import type { StoredMessage } from '../columns.ts'
import { toMessageFacts } from '../message.ts'
import { learnIdentities } from '../recipients/learn.ts'
import type { Move, Sighting } from '../recipients/plan.ts'
import { noCounts, type StatusCounts } from '../status/counts.ts'
import { readChoice } from '../suppressions/keywords.ts'
import { applyRecipientChoices, type RecipientChoice } from '../suppressions/recipient-choices.ts'
import { claimUnseen, findMessagesByWamid } from './store.ts'

/** Our number that a user wrote to. */
interface Addressee {
  accountId: string
  whatsAppAccountId: string
  wabaId: string
}

type IncomingReply = Addressee & UserReply
type IncomingPreference = Addressee & UserPreferenceChange
type IncomingIdentityChange = Addressee & IdentityChange
export type FromUser = (IncomingReply | IncomingPreference | IncomingIdentityChange) & Caused

/** Emits events for replies to our messages, and stores opt-outs and opt-ins. */
export const applyReplies = batchedByAccount<FromUser>({ name: 'apply_replies', run: applyAll })

async function applyAll(deps: ApplyDeps, callbacks: readonly (readonly FromUser[])[]): Promise<StatusCounts[]> {
  const items = callbacks.flat()
  const replies = items.filter((item) => 'waMessageId' in item)
  const { counts, recorded } = await deps.db.transaction().execute(async (trx) => {
    const find = indexByWamid(await findMessagesByWamid(trx, listRepliedTo(replies)))
    const ours = replies.filter((reply) => find(reply) !== undefined || isChoice(reply))
    const unseen = await claimUnseen(trx, ours)
    const repliedEvents = ours.flatMap((reply) => (unseen.has(reply) ? toReplied(reply, find(reply)) : []))
    await learnIdentities(
      trx,
      items.flatMap((item) => toIdentityReport(item, ours)),
      deps,
    )
    const choices = items.flatMap((item) => ('waMessageId' in item && !unseen.has(item) ? [] : toChoices(item, find)))
    const choiceEvents = await applyRecipientChoices(trx, choices, deps)
    await recordEvents(trx, [...repliedEvents, ...choiceEvents], deps)
    const known = new Set<FromUser>(ours)
    return {
      counts: callbacks.map((part) => count(part, known, unseen)),
      recorded: repliedEvents.length + choiceEvents.length,
    }
  })
  // After the commit, so that the workers that it wakes find the deliveries.
  if (recorded > 0) deps.announcements.announce('deliveries')
  return counts
}

type FindMessage = (reply: IncomingReply) => StoredMessage | undefined

/** Matches replies only with messages of the number that received them: another number can belong to another app. */
function indexByWamid(messages: StoredMessage[]): FindMessage {
  const index = new Map(messages.map((message) => [keyOf(message, message.waMessageId ?? ''), message]))
  return (reply) => (reply.repliesTo === undefined ? undefined : index.get(keyOf(reply, reply.repliesTo)))
}

function keyOf(
  { accountId, whatsAppAccountId }: Pick<Addressee, 'accountId' | 'whatsAppAccountId'>,
  waMessageId: string,
): string {
  return `${accountId} ${whatsAppAccountId} ${waMessageId}`
}

function listRepliedTo(replies: readonly IncomingReply[]): { accountId: string; waMessageId: string }[] {
  const repliedTo = replies.flatMap(({ accountId, repliesTo }) =>
    repliesTo === undefined ? [] : [[`${accountId} ${repliesTo}`, { accountId, waMessageId: repliesTo }] as const],
  )
  return [...new Map(repliedTo).values()]
}

/**
 * A text such as STOP counts even if it does not reply to a message of ours. The label of a button counts only if WhatsApp
 * does not say which message it belongs to: an unknown message is of another sender.
 */
export function isChoice(reply: UserReply): boolean {
  // Names the number of a person who hides it, whichever message asked for it.
  if (reply.kind === 'contact') return isKnown(reply.from)
  const isOurs = reply.kind === 'text' || reply.repliesTo === undefined
  return isOurs && isKnown(reply.from) && readChoice(reply) !== undefined
}

/** Names of users whose messages are ignored are not stored. */
function toIdentityReport(item: FromUser, ours: readonly IncomingReply[]): (Sighting | Move)[] {
  const { accountId, wabaId, at } = item
  if ('current' in item)
    return [{ accountId, wabaId, at, previous: toPersonNames(item.previous), current: toPersonNames(item.current) }]
  if (!('waMessageId' in item)) return [{ accountId, wabaId, at, ...toPersonNames(item.user) }]
  return ours.includes(item) ? [{ accountId, wabaId, at, ...toPersonNames(item.from) }] : []
}

function toPersonNames({ waId, userId, parentUserId }: WhatsAppIdentity) {
  return { numbers: waId === undefined ? [] : [waId], userId, parentUserId }
}

function toReplied(reply: IncomingReply, message: StoredMessage | undefined): UnrecordedEvent[] {
  if (!message) return []
  const { waMessageId, from, kind, text, payload, truncated } = reply
  const event: MessageEvent = {
    type: 'message.replied',
    timestamp: reply.at.toISOString(),
    data: {
      messageId: message.id,
      waMessageId: message.waMessageId ?? '',
      status: message.status,
      ...toMessageFacts(message),
      reply: {
        waMessageId,
        ...(from.waId !== undefined && { from: from.waId }),
        ...(from.userId !== undefined && { userId: from.userId }),
        kind,
        ...(text !== undefined && { text }),
        ...(payload !== undefined && { payload }),
        ...(truncated && { truncated }),
      },
    },
  }
  return [{ accountId: message.accountId, type: event.type, messageId: message.id, payload: JSON.stringify(event) }]
}

/**
 * Returns the opt-outs and opt-ins of a user, for each of the user's names. A reply also applies to the recipient of its
 * message. Names of one person are one decision (choices-store.ts).
 */
function toChoices(item: FromUser, find: FindMessage): RecipientChoice[] {
  if ('current' in item) return []
  const { accountId, whatsAppAccountId, at } = item
  if (!('waMessageId' in item)) {
    const choice = item.value === 'stop' ? 'out' : 'in'
    return listNames(item.user).map((recipient) => ({
      accountId,
      whatsAppAccountId,
      recipient,
      choice,
      reason: 'preference',
      at,
    }))
  }
  const choice = readChoice(item)
  if (choice === undefined) return []
  const message = find(item)
  return [...new Set([...listNames(item.from), ...(message ? [message.to] : [])])].map((recipient) => ({
    accountId,
    whatsAppAccountId,
    recipient,
    choice,
    reason: 'reply',
    at,
    ...(message && { message }),
  }))
}

function listNames({ waId, userId, parentUserId }: WhatsAppIdentity): string[] {
  return [waId, userId, parentUserId].filter((name) => name !== undefined)
}

function count(part: readonly FromUser[], known: ReadonlySet<FromUser>, unseen: ReadonlySet<FromUser>): StatusCounts {
  const counts = noCounts()
  for (const item of part)
    if (!('waMessageId' in item) || unseen.has(item)) counts.applied++
    else counts[known.has(item) ? 'repeated' : 'unknown']++
  return counts
}
