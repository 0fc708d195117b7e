import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { MessageEvent } from '../../contracts/events.ts'
import { arraysOf, type Columns, fieldsOf, type Lists, listsOf, namesOf } from '../platform/db/columns.ts'
import type { Database } from '../platform/db/schema.ts'
import { inTransaction, statement, unnamedStatement } from '../platform/db/statement.ts'
import type { TracedItem } from '../platform/db/traced.ts'
import { recordEvents, toUnrecordedEvent, type UnrecordedEvent } from '../webhooks/events.ts'
import { type IdentityChange, isKnown, type WhatsAppIdentity } from '../whatsapp/callbacks/read-identity.ts'
import type { UserPreferenceChange, UserReply } from '../whatsapp/callbacks/read-reply.ts'
import { type ApplyDeps, batchedByAccount, noCounts, type ApplyCounts } from './batched-by-account.ts'
import { messageColumns, type StoredMessage, toMessageFacts } from './message.ts'
import { storeIdentities } from './recipients/store-identities.ts'
import type { IdentityChangeReport, IdentityReport } from './recipients/plan-identities.ts'
import { applyRecipientChoices, readChoice, type RecipientChoice } from './suppressions/recipient-choices.ts'

/** Our number that a user wrote to. */
interface Addressee {
  accountId: string
  whatsAppAccountId: string
  wabaId: string
  /** The time of arrival if WhatsApp gave none. */
  at: Date
}

type IncomingReply = Addressee & UserReply
type IncomingPreference = Addressee & UserPreferenceChange
type IncomingIdentityChange = Addressee & IdentityChange
export type UserUpdate = (IncomingReply | IncomingPreference | IncomingIdentityChange) & TracedItem

/** Emits events for replies to our messages, and stores opt-outs and opt-ins. */
export const applyUserUpdates = batchedByAccount<UserUpdate>({ name: 'apply_replies', run: applyAll })

async function applyAll(deps: ApplyDeps, callbacks: readonly (readonly UserUpdate[])[]): Promise<ApplyCounts[]> {
  const items = callbacks.flat()
  const replies = items.filter((item) => 'waMessageId' in item)
  const { counts, recorded } = await inTransaction(deps.db, async (trx) => {
    const find = indexByWamid(await findMessagesByWamid(trx, listRepliedTo(replies)))
    const ours = replies.filter((reply) => find(reply) !== undefined || isChoice(reply))
    const unseen = await claimUnseen(trx, ours)
    const repliedEvents = ours.flatMap((reply) => (unseen.has(reply) ? toReplied(reply, find(reply)) : []))
    await storeIdentities(
      deps,
      trx,
      items.flatMap((item) => toIdentityReports(item, ours)),
    )
    const choices = items.flatMap((item) => ('waMessageId' in item && !unseen.has(item) ? [] : toChoices(item, find)))
    const choiceEvents = await applyRecipientChoices(deps, trx, choices)
    await recordEvents(deps, trx, [...repliedEvents, ...choiceEvents])
    const known = new Set<UserUpdate>(ours)
    return {
      counts: callbacks.map((part) => count(part, known, unseen)),
      recorded: repliedEvents.length + choiceEvents.length,
    }
  })
  // After the commit, so that the workers that it wakes find the deliveries.
  if (recorded > 0) deps.notifications.notify('deliveries')
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
 * A text such as STOP or START counts even if it does not reply to a message of ours. A button with such a label opts out,
 * whichever message it belongs to: it reached our number, and the message can be deleted by now. It opts in only if
 * WhatsApp does not say which message it belongs to, because an unknown message can be of another sender.
 */
export function isChoice(reply: UserReply): boolean {
  // Names the number of a person who hides it, whichever message asked for it.
  if (reply.kind === 'contact') return isKnown(reply.from)
  const choice = isKnown(reply.from) ? readChoice(reply) : undefined
  return choice === 'out' || (choice === 'in' && (reply.kind === 'text' || reply.repliesTo === undefined))
}

/** Names of users whose messages are ignored are not stored. */
function toIdentityReports(
  item: UserUpdate,
  ours: readonly IncomingReply[],
): (IdentityReport | IdentityChangeReport)[] {
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
  return [toUnrecordedEvent(message, event)]
}

/**
 * Returns the opt-outs and opt-ins of a user, for each of the user's names. A reply also applies to the recipient of its
 * message. Names of one person are one decision (choices-store.ts).
 */
function toChoices(item: UserUpdate, find: FindMessage): RecipientChoice[] {
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

function count(
  part: readonly UserUpdate[],
  known: ReadonlySet<UserUpdate>,
  unseen: ReadonlySet<UserUpdate>,
): ApplyCounts {
  const counts = noCounts()
  for (const item of part)
    if (!('waMessageId' in item) || unseen.has(item)) counts.applied++
    else counts[known.has(item) ? 'repeated' : 'unknown']++
  return counts
}

interface WamidReference {
  accountId: string
  waMessageId: string
}

const wamidColumns: Columns<WamidReference> = {
  accountId: { name: 'account_id', type: 'word' },
  waMessageId: { name: 'wa_message_id', type: 'text' },
}

const findByWamids = unnamedStatement<Lists<WamidReference>, StoredMessage>(
  ($) => `select ${fieldsOf(messageColumns, 'm')}
  from unnest(${arraysOf($, wamidColumns)}) as r (${namesOf(wamidColumns)})
  join wa_message_ids w on w.hash = hashtextextended(r.wa_message_id, 0) and w.account_id = r.account_id
  join messages m on m.account_id = w.account_id and m.id = w.message_id and m.wa_message_id = r.wa_message_id`,
)

/** Finds the messages of these wamids, each within its account. */
async function findMessagesByWamid(
  db: Kysely<Database>,
  references: readonly WamidReference[],
): Promise<StoredMessage[]> {
  return references.length === 0 ? [] : findByWamids(db, listsOf(wamidColumns, references))
}

interface SeenReply {
  accountId: string
  hash: Uint8Array
}

const seenColumns: Columns<SeenReply> = {
  accountId: { name: 'account_id', type: 'word' },
  hash: { name: 'hash', type: 'bytea' },
}

const insertSeen = statement<Lists<SeenReply>, SeenReply>(
  'insert_seen_replies',
  ($) => `insert into seen_replies (${namesOf(seenColumns)})
  select distinct * from unnest(${arraysOf($, seenColumns)}) as r (${namesOf(seenColumns)})
  order by account_id, hash
  on conflict do nothing
  returning ${fieldsOf(seenColumns, 'seen_replies')}`,
)

/** Marks replies as reported, and returns those that were not marked before. Each is returned once. */
async function claimUnseen<Reply extends WamidReference>(
  trx: Kysely<Database>,
  replies: readonly Reply[],
): Promise<Set<Reply>> {
  if (replies.length === 0) return new Set()
  const hashed = replies.map((reply) => ({ reply, accountId: reply.accountId, hash: hashOf(reply.waMessageId) }))
  const rows = await insertSeen(trx, listsOf(seenColumns, hashed))
  const unseen = new Set(rows.map(({ accountId, hash }) => hashKeyOf(accountId, hash)))
  const claimed = hashed.filter(({ accountId, hash }) => unseen.delete(hashKeyOf(accountId, hash)))
  return new Set(claimed.map(({ reply }) => reply))
}

function hashKeyOf(accountId: string, hash: Uint8Array): string {
  return `${accountId} ${Buffer.from(hash).toString('hex')}`
}

function hashOf(waMessageId: string): Uint8Array {
  return createHash('sha256').update(waMessageId).digest()
}

/** WhatsApp repeats callbacks for seven days (reference, section 4.2). */
const keptDays = 30

/** Covers all accounts, in statements that are short whatever their number. */
export async function deleteOldSeenReplies(db: Kysely<Database>, now: Date, batchSize = 10_000): Promise<void> {
  for (;;) {
    const { numAffectedRows } = await sql`
      delete from seen_replies where ctid = any(array(
        select ctid from seen_replies
        where received_at < ${now}::timestamptz - ${sql.lit(keptDays)} * interval '1 day'
        limit ${sql.lit(batchSize)}
      ))`.execute(db)
    if (Number(numAffectedRows ?? 0) < batchSize) return
  }
}
