import { type Kysely, sql } from 'kysely'
import { erasedRecipient } from '../../../contracts/fields.ts'
import type { Database } from '../../platform/db/schema.ts'
import { toNumberKey } from './number-key.ts'
import { type HashKey, hashRecipient } from './recipient-hash.ts'

/**
 * Replaces the number of a suppression with its hash, so that the person stays opted out. An entry of someone who has
 * opted in again is deleted. Covers all accounts unless one is given; returns the accounts of the entries.
 */
export function eraseSuppressions(
  db: Kysely<Database>,
  key: HashKey,
  { number, accountId }: { number: string; accountId: string | undefined },
): Promise<string[]> {
  return db.transaction().execute(async (trx) => {
    const numberKey = toNumberKey(number)
    let query = trx.selectFrom('suppressions').selectAll().where('number_key', '=', numberKey)
    if (accountId !== undefined) query = query.where('account_id', '=', accountId)
    const rows = await query.orderBy('account_id').forUpdate().execute()
    for (const { account_id, suppressed, ...row } of rows) {
      await trx
        .deleteFrom('suppressions')
        .where('account_id', '=', account_id)
        .where('number_key', '=', numberKey)
        .execute()
      if (!suppressed) continue
      const erased = {
        ...row,
        suppressed,
        account_id,
        number_key: hashRecipient(key, account_id, number),
        to_number: erasedRecipient,
      }
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
    return rows.map(({ account_id }) => account_id)
  })
}

/**
 * Restores the number of erased suppressions when there is a new decision about it, so that the decision is compared
 * with the earlier one as usual.
 */
export async function restoreErased(
  trx: Kysely<Database>,
  key: HashKey,
  choices: readonly { accountId: string; number: string }[],
): Promise<void> {
  const accountIds = choices.map(({ accountId }) => accountId)
  const numbers = choices.map(({ number }) => number)
  const numberKeys = numbers.map(toNumberKey)
  const hashes = choices.map(({ accountId, number }) => hashRecipient(key, accountId, number))
  await sql`
    update suppressions s set number_key = r.number_key, to_number = r.to_number
    from (
      select distinct on (account_id, number_key) account_id, number_key, to_number, hash
      from unnest(${accountIds}::text[], ${numberKeys}::text[], ${numbers}::text[], ${hashes}::text[])
        as given (account_id, number_key, to_number, hash)
    ) r
    where s.account_id = r.account_id and s.number_key = r.hash and not exists (
      select from suppressions other where other.account_id = r.account_id and other.number_key = r.number_key
    )`.execute(trx)
}
