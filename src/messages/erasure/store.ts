import { type Kysely, sql } from 'kysely'
import type { MessageEvent } from '../../../contracts/events.ts'
import { erasedRecipient } from '../../../contracts/fields.ts'
import { blockRanges, findLeafTables } from '../../platform/db/leaf-tables.ts'
import { retryLocked } from '../../platform/db/locks.ts'
import type { Database } from '../../platform/db/schema.ts'
import { deleteContents } from '../contents/store.ts'
import { eraseWamids, type NumberMatcher } from './number.ts'

/** Finds the accounts with a message to one of these numbers or user IDs. Reads all accounts. */
export async function findAccountsWithMessagesTo(
  db: Kysely<Database>,
  recipients: readonly string[],
): Promise<string[]> {
  const rows = await db
    .selectFrom('messages')
    .select('account_id as accountId')
    .distinct()
    .where('to_number', 'in', recipients)
    .execute()
  return rows.map((row) => row.accountId).sort()
}

interface LockedMessage {
  id: string
  waMessageId: string | null
}

/** How many messages were erased, and how much of what belongs to them. */
export interface ErasedMessages {
  messages: number
  /** Stored contents that were deleted. */
  contents: number
  events: number
  /** Events of these whose reply was removed. */
  replies: number
}

/**
 * Erases the recipient of up to `limit` messages of an account, with everything that belongs to them, in one
 * transaction. The messages are locked first: a status that is being applied is then
 * finished, and its event is found; a later one finds the recipient erased.
 */
export function eraseSomeMessages(
  db: Kysely<Database>,
  { accountId, recipients, matcher }: { accountId: string; recipients: readonly string[]; matcher: NumberMatcher },
  limit: number,
): Promise<ErasedMessages> {
  return db.transaction().execute(async (trx) => {
    const messages = await lockMessagesTo(trx, { accountId, recipients }, limit)
    if (messages.length === 0) return { messages: 0, contents: 0, events: 0, replies: 0 }
    const ids = messages.map(({ id }) => id)
    await sql`
      update messages set to_number = ${erasedRecipient}, error_message = null, wa_id = null, user_id = null,
        wa_message_id = case when wa_message_id is not null then '' end
      where account_id = ${accountId} and id = any(${ids}::text[])`.execute(trx)
    const contents = await deleteContents(trx, accountId, ids)
    await deleteWamids(trx, messages)
    await emptyRequestHashes(trx, accountId, ids)
    const { eventIds, replies } = await eraseEvents(trx, accountId, ids, matcher)
    await eraseAttempts(trx, accountId, eventIds)
    return { messages: messages.length, contents, events: eventIds.length, replies }
  })
}

async function lockMessagesTo(
  trx: Kysely<Database>,
  { accountId, recipients }: { accountId: string; recipients: readonly string[] },
  limit: number,
): Promise<LockedMessage[]> {
  return trx
    .selectFrom('messages')
    .select(['id', 'wa_message_id as waMessageId'])
    .where('to_number', 'in', recipients)
    .where('account_id', '=', accountId)
    .orderBy('id')
    .limit(limit)
    .forUpdate()
    .execute()
}

async function deleteWamids(trx: Kysely<Database>, messages: readonly LockedMessage[]): Promise<void> {
  const known = messages.filter(({ waMessageId }) => waMessageId !== null)
  await sql`
    delete from wa_message_ids w
    using unnest(${known.map(({ id }) => id)}::text[], ${known.map(({ waMessageId }) => waMessageId)}::text[]) as m (id, wamid)
    where w.hash = hashtextextended(m.wamid, 0) and w.message_id = m.id`.execute(trx)
}

/**
 * A plain hash of a request reveals the number to anyone who tries all numbers. The key is kept, so that a retry does
 * not send again. Message and key were recorded in one transaction with the same time, by which an index finds the key.
 */
async function emptyRequestHashes(trx: Kysely<Database>, accountId: string, ids: readonly string[]): Promise<void> {
  await sql`
    update idempotency_keys k set request_hash = ''
    from messages m
    where m.account_id = ${accountId} and m.id = any(${ids}::text[])
      and k.created_at = m.recorded_at and k.account_id = m.account_id and k.message_id = m.id`.execute(trx)
}

async function eraseEvents(
  trx: Kysely<Database>,
  accountId: string,
  messageIds: readonly string[],
  matcher: NumberMatcher,
): Promise<{ eventIds: string[]; replies: number }> {
  const events = await trx
    .selectFrom('events')
    .select(['id', 'payload'])
    .where('account_id', '=', accountId)
    .where('message_id', 'in', messageIds)
    .execute()
  const unnamed = events.map(({ payload }) => eraseWamids(matcher.erase(payload)))
  const payloads = unnamed.map(eraseReplyWords)
  await sql`
    update events e set payload = erased.payload
    from unnest(${events.map(({ id }) => id)}::text[], ${payloads}::text[]) as erased (id, payload)
    where e.account_id = ${accountId} and e.id = erased.id`.execute(trx)
  return {
    eventIds: events.map(({ id }) => id),
    replies: payloads.filter((payload, index) => payload !== unnamed[index]).length,
  }
}

/**
 * Empties the stored responses, which can quote the request. A worker that sends an event right now loses its claim, so
 * that its response is not stored; the delivery is repeated when its lease ends.
 */
export async function eraseAttempts(
  trx: Kysely<Database>,
  accountId: string,
  eventIds: readonly string[],
): Promise<void> {
  const { rows: waiting } = await sql<{ id: string }>`
    update webhook_deliveries set generation = generation + 1
    where account_id = ${accountId} and event_id = any(${eventIds}::text[])
    returning id`.execute(trx)
  const { rows: finished } = await sql<{ id: string }>`
    select id from webhook_finished_deliveries
    where endpoint_id in (select id from webhook_endpoints where account_id = ${accountId})
      and event_id = any(${eventIds}::text[])`.execute(trx)
  const deliveryIds = [...waiting, ...finished].map(({ id }) => id)
  await sql`
    update webhook_attempts set response_start = null
    where delivery_id = any(${deliveryIds}::text[]) and response_start is not null`.execute(trx)
}

/**
 * Empties the stored responses of removed endpoints to erased events, in short statements: no index finds their finished
 * deliveries. Returns how many. Reads all accounts unless one is given.
 */
export async function eraseOrphanedResponses(db: Kysely<Database>, accountId: string | undefined): Promise<number> {
  const ofAccount = accountId === undefined ? sql`true` : sql`a.account_id = ${accountId}`
  let erased = 0
  for (const { name } of await findLeafTables(db, 'webhook_attempts'))
    for await (const range of blockRanges(db, name)) {
      const { numAffectedRows } = await retryLocked(() =>
        sql`
          update ${sql.table(name)} a set response_start = null
          where ${range} and ${ofAccount} and response_start is not null
            and not exists (select from webhook_endpoints e where e.id = a.endpoint_id)
            and exists (
              select from events e
              where e.account_id = a.account_id and e.id = a.event_id and e.payload like ${`%"${erasedRecipient}"%`}
            )`.execute(db),
      )
      erased += Number(numAffectedRows ?? 0)
    }
  return erased
}

/** Ends claims on erased events that workers made just before the erasure: they still have the number in memory. */
export async function endClaimsOfErased(db: Kysely<Database>, accountId: string): Promise<void> {
  await sql`
    update webhook_deliveries d set generation = d.generation + 1
    from events e
    where d.account_id = ${accountId} and d.due_at > now() and d.generation > d.attempts
      and e.account_id = d.account_id and e.id = d.event_id
      and e.payload like ${`%"${erasedRecipient}"%`}`.execute(db)
}

/** A PostgreSQL regular expression that matches the payloads whose erased person still has words in them. */
export const replyWordsPattern = String.raw`"message[.]replied".*"${erasedRecipient}".*"(text|payload)":`

/**
 * Removes what an erased person answered, and further names of the person, from the payload of an event in which their
 * names are already erased. Returns the payload of any other event as it is, such as an answer of another person that
 * mentions them.
 */
export function eraseReplyWords(payload: string): string {
  if (!payload.includes('"message.replied"')) return payload
  // Payloads are written by `recordEvents`.
  const event = JSON.parse(payload) as MessageEvent
  if (event.type !== 'message.replied') return payload
  const { to, reply } = event.data
  const { text, payload: answers, truncated, from, userId, ...rest } = reply
  const hasWords = text !== undefined || answers !== undefined || truncated === true
  const names = [from, userId].filter((name) => name !== undefined)
  if (![to, ...names].includes(erasedRecipient)) return payload
  if (!hasWords && names.every((name) => name === erasedRecipient)) return payload
  const erasedNames = {
    ...(from !== undefined && { from: erasedRecipient }),
    ...(userId !== undefined && { userId: erasedRecipient }),
  }
  return JSON.stringify({ ...event, data: { ...event.data, reply: { ...rest, ...erasedNames } } })
}
