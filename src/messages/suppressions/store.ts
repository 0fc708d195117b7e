import { type Kysely, type Selection, sql } from 'kysely'
import type { SuppressionReason } from '../../../contracts/api/suppression.ts'
import { dedupeByKey } from '../../platform/batch.ts'
import { batched } from '../../platform/db/batched.ts'
import { arraysOf, type Columns, type Lists, listsOf, namesOf } from '../../platform/db/columns.ts'
import type { Database } from '../../platform/db/schema.ts'
import { statement } from '../../platform/db/statement.ts'
import { reasonsOfUsers } from './opt-out-reasons.ts'
import { type HashKey, hashNumberKey, storedKeysOf } from './number-key.ts'

export interface SuppressionFilter {
  /** Number or user ID. */
  recipient?: string | undefined
  reason?: SuppressionReason | undefined
  /** Only entries older than this one. */
  beforeId?: string | undefined
}

export const suppressionColumns = [
  'id',
  'number_key as key',
  'to_number as to',
  'suppressed',
  'reason',
  'whatsapp_account_id as whatsAppAccountId',
  'since',
  'all_messages as allMessages',
  'added_by as addedBy',
] as const

const allColumns = ['account_id as accountId', ...suppressionColumns, 'changed_at as changedAt'] as const

export type SuppressionRow = Selection<Database, 'suppressions', (typeof allColumns)[number]>

/** A suppression, and the user ID that WhatsApp reported last for the recipient. */
export type ListedSuppression = Selection<Database, 'suppressions', (typeof suppressionColumns)[number]> & {
  userId: string | null
}

/** Selected with a suppression: the user ID that WhatsApp reported last for the recipient. */
export const latestUserId = `(
  select i.identity from recipient_identities i
  where i.account_id = suppressions.account_id and i.person = suppressions.number_key and i.waba_id is not null
  order by i.seen_at desc limit 1
)`

/** Newest first. An erased person has a row for each of their names, all with the same ID. */
export function findSuppressions(
  db: Kysely<Database>,
  accountId: string,
  { recipient, reason, beforeId }: SuppressionFilter,
  { limit, hashKey }: { limit: number; hashKey: HashKey | undefined },
): Promise<ListedSuppression[]> {
  let query = db
    .selectFrom('suppressions')
    .distinctOn('id')
    .select(suppressionColumns)
    .select(sql.raw<string | null>(latestUserId).as('userId'))
    .where('account_id', '=', accountId)
    .where('suppressed', '=', true)
  if (recipient !== undefined) query = query.where(isOfRecipient(accountId, recipient, hashKey))
  if (reason !== undefined) query = query.where('reason', '=', reason)
  if (beforeId !== undefined) query = query.where('id', '<', beforeId)
  return query.orderBy('id', 'desc').limit(limit).execute()
}

/** The possible keys of a recipient: those of the number or user ID, and their hashes for an erased recipient. */
function keysOf(accountId: string, recipient: string, hashKey: HashKey | undefined): string[] {
  const keys = storedKeysOf(recipient)
  return hashKey ? [...keys, ...keys.map((key) => hashNumberKey(hashKey, accountId, key))] : keys
}

/** Whether a suppression is about a recipient, also under another name. */
function isOfRecipient(accountId: string, recipient: string, hashKey: HashKey | undefined) {
  const keys = keysOf(accountId, recipient, hashKey)
  return sql<boolean>`number_key = any(${keys}::text[] || array(
    select i.person from recipient_identities i where i.account_id = ${accountId} and i.identity = any(${keys}::text[])
  ))`
}

/**
 * Keeps the rows, so that a late, older opt-out has no effect, except for those that only users have changed, which would
 * pile up. The rows of an erased person have one ID, and the number finds only one of them. Returns how many there were.
 * Requires the lock of the account's recipients (recipients/store.ts).
 */
export async function unsuppress(
  trx: Kysely<Database>,
  {
    accountId,
    recipient,
    hashKey,
    id,
    at,
  }: { accountId: string; recipient: string; hashKey: HashKey | undefined; id: string; at: Date },
): Promise<number> {
  const found = trx
    .selectFrom('suppressions')
    .select('id')
    .where('account_id', '=', accountId)
    .where(isOfRecipient(accountId, recipient, hashKey))
    .where('suppressed', '=', true)
  const { numDeletedRows } = await trx
    .deleteFrom('suppressions')
    .where('account_id', '=', accountId)
    .where('id', 'in', found)
    .where('suppressed', '=', true)
    .where('reason', 'in', reasonsOfUsers)
    .whereRef('changed_at', '=', 'since')
    .executeTakeFirst()
  const { numUpdatedRows } = await trx
    .updateTable('suppressions')
    .set({
      suppressed: false,
      all_messages: false,
      reason: 'manual',
      id,
      since: at,
      changed_at: at,
      whatsapp_account_id: null,
      added_by: null,
    })
    .where('account_id', '=', accountId)
    .where('id', 'in', found)
    .where('suppressed', '=', true)
    .executeTakeFirst()
  return Number(numDeletedRows + numUpdatedRows)
}

/** Locks the suppressions of recipients until the end of the transaction. */
export function lockSuppressions(
  trx: Kysely<Database>,
  recipients: readonly Pick<SuppressionRow, 'accountId' | 'key'>[],
): Promise<SuppressionRow[]> {
  const accountIds = recipients.map(({ accountId }) => accountId)
  const keys = recipients.map(({ key }) => key)
  return trx
    .selectFrom('suppressions')
    .select(allColumns)
    .where(sql<boolean>`(account_id, number_key) in (select * from unnest(${accountIds}::text[], ${keys}::text[]))`)
    .orderBy('account_id')
    .orderBy('number_key')
    .forUpdate()
    .execute()
}

export async function writeSuppression(trx: Kysely<Database>, row: SuppressionRow): Promise<void> {
  const values = {
    account_id: row.accountId,
    number_key: row.key,
    id: row.id,
    to_number: row.to,
    suppressed: row.suppressed,
    reason: row.reason,
    whatsapp_account_id: row.whatsAppAccountId,
    since: row.since,
    changed_at: row.changedAt,
    all_messages: row.allMessages,
    added_by: row.addedBy,
  }
  await trx
    .insertInto('suppressions')
    .values(values)
    .onConflict((conflict) => conflict.columns(['account_id', 'number_key']).doUpdateSet(values))
    .execute()
}

export async function deleteSuppression(trx: Kysely<Database>, accountId: string, key: string): Promise<void> {
  await trx.deleteFrom('suppressions').where('account_id', '=', accountId).where('number_key', '=', key).execute()
}

interface Recipient {
  accountId: string
  /** Keys of the recipient (keysOf). */
  keys: string[]
}

interface FoundSuppression {
  reason: SuppressionReason
  since: Date
  /** Messages of all categories are suppressed. */
  allMessages: boolean
}

const findOne = statement<Recipient, FoundSuppression>(
  'find_suppression',
  ($) => `select reason, since, all_messages as "allMessages" from suppressions
  where account_id = ${$.accountId} and suppressed and number_key = any (${$.keys}::text[] || array(
    select i.person from recipient_identities i where i.account_id = ${$.accountId} and i.identity = any (${$.keys}::text[])
  ))
  order by all_messages desc limit 1`,
)

interface RecipientKey {
  accountId: string
  key: string
  /** The recipient's position in the batch. */
  n: number
}

const recipientColumns: Columns<RecipientKey> = {
  accountId: { name: 'account_id', type: 'word' },
  key: { name: 'key', type: 'word' },
  n: { name: 'n', type: 'integer' },
}

const findMany = statement<Lists<RecipientKey>, FoundSuppression & { n: number }>(
  'find_many_suppressions',
  ($) => `select r.n, s.reason, s.since, s.all_messages as "allMessages"
  from unnest(${arraysOf($, recipientColumns)}) as r (${namesOf(recipientColumns)})
  left join recipient_identities i on i.account_id = r.account_id and i.identity = r.key
  join suppressions s on s.account_id = r.account_id and s.number_key = any (array[r.key, i.person]) and s.suppressed
  order by s.all_messages`,
)

const findBatched = batched<Recipient, FoundSuppression | undefined>({
  name: 'find_suppression',
  one: async (db, recipient) => (await findOne(db, recipient))[0],
  many: async (db, recipients) => {
    const groups = dedupeByKey(recipients, ({ accountId, keys }) => `${accountId} ${keys[0]}`)
    const keys = groups.flatMap(({ item }, n) => item.keys.map((key) => ({ accountId: item.accountId, key, n })))
    const rows = await findMany(db, listsOf(recipientColumns, keys))
    const found = Array.from(recipients, (): FoundSuppression | undefined => undefined)
    for (const row of rows) for (const index of groups[row.n]?.indexes ?? []) found[index] = row
    return found
  },
  groupOf: ({ accountId }) => accountId,
})

/** The entry of a recipient; undefined if there is none. */
export function findSuppression(
  db: Kysely<Database>,
  accountId: string,
  recipient: string,
  hashKey: HashKey | undefined,
): Promise<FoundSuppression | undefined> {
  return findBatched(db, { accountId, keys: keysOf(accountId, recipient, hashKey) })
}
