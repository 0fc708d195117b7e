import { type Kysely, type Selectable, sql } from 'kysely'
import { erasedRecipient } from '../../../contracts/fields.ts'
import type { Database } from '../../platform/db/schema.ts'
import { lockRecipients } from '../recipients/store.ts'
import { type HashKey, hashNumberKey, storedKeysOf } from './number-key.ts'
import { compareReasons } from './opt-out-reasons.ts'

/**
 * Deletes the names of a person in an account, and replaces the recipient of their suppressions with a hash of each name,
 * so that the person stays opted out under all of them. An entry of someone who has opted in again is deleted. Returns
 * how many rows there were.
 */
export function eraseNames(
  db: Kysely<Database>,
  key: HashKey,
  { accountId, names }: { accountId: string; names: readonly string[] },
): Promise<{ suppressions: number; identities: number }> {
  return db.transaction().execute(async (trx) => {
    await lockRecipients(trx, [accountId])
    const { numDeletedRows } = await trx
      .deleteFrom('recipient_identities')
      .where('account_id', '=', accountId)
      .where((eb) => eb.or([eb('identity', 'in', names), eb('person', 'in', names)]))
      .executeTakeFirst()
    const rows = await trx
      .deleteFrom('suppressions')
      .where('account_id', '=', accountId)
      .where('number_key', 'in', names)
      .returningAll()
      .execute()
    for (const row of rows.toSorted((a, b) => compareReasons(a.reason, b.reason)))
      if (row.suppressed)
        for (const name of names) await storeErased(trx, { ...row, number_key: hashNumberKey(key, accountId, name) })
    return { suppressions: rows.length, identities: Number(numDeletedRows) }
  })
}

async function storeErased(trx: Kysely<Database>, row: Selectable<Database['suppressions']>): Promise<void> {
  const erased = { ...row, to_number: erasedRecipient }
  await trx
    .insertInto('suppressions')
    .values(erased)
    // The person was erased before, and has opted out again since.
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'number_key']).doUpdateSet({
        ...erased,
        all_messages: sql<boolean>`suppressions.all_messages or excluded.all_messages`,
      }),
    )
    .execute()
}

/** The accounts that store a person under one of these names. Reads all accounts unless one is given. */
export async function findAccountsWithNames(
  db: Kysely<Database>,
  names: readonly string[],
  accountId: string | undefined,
): Promise<string[]> {
  const ofAccount = accountId === undefined ? sql`true` : sql`account_id = ${accountId}`
  const { rows } = await sql<{ accountId: string }>`
    select account_id as "accountId" from suppressions where number_key = any(${names}::text[]) and ${ofAccount}
    union
    select account_id from recipient_identities
    where (identity = any(${names}::text[]) or person = any(${names}::text[])) and ${ofAccount}
    order by "accountId"`.execute(db)
  return rows.map(({ accountId }) => accountId)
}

/**
 * Restores the recipient of erased suppressions when there is a new decision about it, so that the decision is compared
 * with the earlier one as usual. Entries of earlier versions with another spelling of a number get its key.
 */
export async function restoreErased(
  trx: Kysely<Database>,
  key: HashKey | undefined,
  choices: readonly { accountId: string; recipient: string }[],
): Promise<void> {
  const stored = choices.flatMap(({ accountId, recipient }) => {
    const keys = storedKeysOf(recipient)
    const [numberKey = recipient] = keys
    const hashes = key ? keys.map((one) => hashNumberKey(key, accountId, one)) : []
    return [...keys.slice(1), ...hashes].map((found) => ({ accountId, numberKey, recipient, found }))
  })
  if (stored.length === 0) return
  await sql`
    update suppressions s set number_key = r.number_key,
      to_number = case when s.to_number = ${erasedRecipient} then r.to_number else s.to_number end
    from (
      select distinct on (account_id, number_key) account_id, number_key, to_number, found
      from unnest(${stored.map(({ accountId }) => accountId)}::text[], ${stored.map(({ numberKey }) => numberKey)}::text[],
        ${stored.map(({ recipient }) => recipient)}::text[], ${stored.map(({ found }) => found)}::text[])
        as given (account_id, number_key, to_number, found)
      where exists (
        select from suppressions e where e.account_id = given.account_id and e.number_key = given.found
      )
    ) r
    where s.account_id = r.account_id and s.number_key = r.found and not exists (
      select from suppressions other where other.account_id = r.account_id and other.number_key = r.number_key
    )`.execute(trx)
}
