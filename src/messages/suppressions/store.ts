import type { Kysely, Selectable } from 'kysely'
import type { SuppressionReason } from '../../../contracts/api/suppression.ts'
import { dedupeByKey } from '../../platform/batch.ts'
import { batched } from '../../platform/db/batched.ts'
import { arraysOf, type Columns, type Lists, listsOf, namesOf } from '../../platform/db/columns.ts'
import type { Database, SuppressionsTable } from '../../platform/db/schema.ts'
import { statement } from '../../platform/db/statement.ts'
import { toNumberKey } from './number-key.ts'
import { type HashKey, hashRecipient } from './recipient-hash.ts'

export type SuppressionRow = Selectable<SuppressionsTable>

export interface SuppressionFilter {
  to?: string | undefined
  reason?: SuppressionReason | undefined
  /** Only entries older than this one. */
  beforeId?: string | undefined
}

/** Newest first. */
export function findSuppressions(
  db: Kysely<Database>,
  accountId: string,
  { to, reason, beforeId }: SuppressionFilter,
  { limit, hashKey }: { limit: number; hashKey: HashKey | undefined },
): Promise<SuppressionRow[]> {
  let query = db
    .selectFrom('suppressions')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('suppressed', '=', true)
  if (to !== undefined) query = query.where('number_key', 'in', keysOf(accountId, to, hashKey))
  if (reason !== undefined) query = query.where('reason', '=', reason)
  if (beforeId !== undefined) query = query.where('id', '<', beforeId)
  return query.orderBy('id', 'desc').limit(limit).execute()
}

/** The possible keys of a recipient: that of the number, and the hash of an erased number. */
function keysOf(accountId: string, number: string, hashKey: HashKey | undefined): string[] {
  return [toNumberKey(number), ...(hashKey ? [hashRecipient(hashKey, accountId, number)] : [])]
}

/** Keeps the row, so that a late, older opt-out has no effect. Returns false if the recipient was not suppressed. */
export async function unsuppress(
  db: Kysely<Database>,
  {
    accountId,
    number,
    hashKey,
    id,
    at,
  }: { accountId: string; number: string; hashKey: HashKey | undefined; id: string; at: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('suppressions')
    .set({
      suppressed: false,
      all_messages: false,
      reason: 'manual',
      id,
      since: at,
      changed_at: at,
      whatsapp_account_id: null,
    })
    .where('account_id', '=', accountId)
    .where('number_key', 'in', keysOf(accountId, number, hashKey))
    .where('suppressed', '=', true)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

interface Recipient {
  accountId: string
  numberKey: string
  /** The key if the recipient was erased. */
  hash: string
}

interface FoundSuppression {
  reason: SuppressionReason
  since: Date
  /** Messages of all categories are suppressed. */
  all_messages: boolean
}

const findOne = statement<Recipient, FoundSuppression>(
  'find_suppression',
  ($) => `select reason, since, all_messages from suppressions
  where account_id = ${$.accountId} and number_key in (${$.numberKey}, ${$.hash}) and suppressed
  order by all_messages desc limit 1`,
)

const recipientColumns: Columns<Recipient> = {
  accountId: { name: 'account_id', type: 'word' },
  numberKey: { name: 'number_key', type: 'word' },
  hash: { name: 'hash', type: 'word' },
}

const findMany = statement<Lists<Recipient>, FoundSuppression & { n: number }>(
  'find_many_suppressions',
  ($) => `select r.n::integer as n, s.reason, s.since, s.all_messages
  from unnest(${arraysOf($, recipientColumns)}) with ordinality as r (${namesOf(recipientColumns)}, n)
  join suppressions s
    on s.account_id = r.account_id and s.number_key = any (array[r.number_key, r.hash]) and s.suppressed
  order by s.all_messages`,
)

const findBatched = batched<Recipient, FoundSuppression | undefined>({
  name: 'find_suppression',
  one: async (db, recipient) => (await findOne(db, recipient))[0],
  many: async (db, recipients) => {
    const groups = dedupeByKey(recipients, ({ accountId, numberKey }) => `${accountId} ${numberKey}`)
    const rows = await findMany(
      db,
      listsOf(
        recipientColumns,
        groups.map(({ item }) => item),
      ),
    )
    const found = Array.from(recipients, (): FoundSuppression | undefined => undefined)
    for (const row of rows) for (const index of groups[row.n - 1]?.indexes ?? []) found[index] = row
    return found
  },
  groupOf: ({ accountId }) => accountId,
})

/** The entry of a recipient; undefined if there is none. */
export function findSuppression(
  db: Kysely<Database>,
  accountId: string,
  number: string,
  hashKey: HashKey | undefined,
): Promise<FoundSuppression | undefined> {
  const numberKey = toNumberKey(number)
  const hash = hashKey ? hashRecipient(hashKey, accountId, number) : numberKey
  return findBatched(db, { accountId, numberKey, hash })
}
