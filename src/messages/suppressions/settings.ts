import type { SuppressedCategory } from '../../../contracts/dashboard/suppression.ts'
import { suppressedCategories } from '../../../contracts/dashboard/suppression.ts'
import { requireAccount } from '../../accounts/account.ts'
import type { Deps } from '../../deps.ts'
import { alwaysSuppressedCategory } from './check.ts'

export interface SuppressionSettings {
  /** Template categories that are not sent to suppressed recipients. */
  categories: SuppressedCategory[]
}

export async function getSuppressionSettings(
  { db }: Pick<Deps, 'db'>,
  accountId: string,
): Promise<SuppressionSettings> {
  await requireAccount(db, accountId)
  const row = await db
    .selectFrom('suppression_settings')
    .select('categories')
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  return { categories: inOrder(row?.categories ?? []) }
}

export async function setSuppressedCategories(
  deps: Pick<Deps, 'db'>,
  accountId: string,
  given: readonly SuppressedCategory[],
): Promise<SuppressionSettings> {
  await requireAccount(deps.db, accountId)
  const categories = inOrder(given)
  await deps.db
    .insertInto('suppression_settings')
    .values({ account_id: accountId, categories })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet({ categories }))
    .execute()
  return { categories }
}

/** MARKETING is always included, because someone who opted out must not get advertising. */
function inOrder(categories: readonly string[]): SuppressedCategory[] {
  return suppressedCategories.filter((known) => known === alwaysSuppressedCategory || categories.includes(known))
}
