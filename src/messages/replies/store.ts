import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { arraysOf, type Columns, fieldsOf, type Lists, listsOf, namesOf } from '../../platform/db/columns.ts'
import type { Database } from '../../platform/db/schema.ts'
import { statement, unnamedStatement } from '../../platform/db/statement.ts'
import { messageColumns, type StoredMessage } from '../columns.ts'

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
export async function findMessagesByWamid(
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

const insertSeen = statement<Lists<SeenReply>, { account_id: string; hash: Buffer }>(
  'insert_seen_replies',
  ($) => `insert into seen_replies (${namesOf(seenColumns)})
  select distinct * from unnest(${arraysOf($, seenColumns)}) as r (${namesOf(seenColumns)})
  order by account_id, hash
  on conflict do nothing
  returning account_id, hash`,
)

/** Marks replies as reported, and returns those that were not marked before. Each is returned once. */
export async function claimUnseen<Reply extends WamidReference>(
  trx: Kysely<Database>,
  replies: readonly Reply[],
): Promise<Set<Reply>> {
  if (replies.length === 0) return new Set()
  const hashed = replies.map((reply) => ({ reply, accountId: reply.accountId, hash: hashOf(reply.waMessageId) }))
  const rows = await insertSeen(trx, listsOf(seenColumns, hashed))
  const unseen = new Set(rows.map((row) => keyOf(row.account_id, row.hash)))
  const claimed = hashed.filter(({ accountId, hash }) => unseen.delete(keyOf(accountId, hash)))
  return new Set(claimed.map(({ reply }) => reply))
}

function keyOf(accountId: string, hash: Uint8Array): string {
  return `${accountId} ${Buffer.from(hash).toString('hex')}`
}

function hashOf(waMessageId: string): Uint8Array {
  return createHash('sha256').update(waMessageId).digest()
}

/** WhatsApp repeats callbacks for seven days (reference, section 4.2). */
const keptDays = 30

/** Covers all accounts. */
export async function deleteOldSeenReplies(db: Kysely<Database>): Promise<void> {
  await sql`delete from seen_replies where received_at < now() - ${sql.lit(keptDays)} * interval '1 day'`.execute(db)
}
