import { suppressedCategories, type SuppressedCategory } from '../../../contracts/dashboard/suppression.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import { errorFactsWithValues } from '../../../contracts/facts/errors.ts'
import { recipientFacts } from '../../../contracts/facts/recipients.ts'
import { requireAccount } from '../../accounts/account.ts'
import type { Deps } from '../../deps.ts'
import { isUserId } from '../recipients/plan-identities.ts'
import { getCachedHashKey } from './number-key.ts'
import { findSuppression } from './store.ts'

/** The category that is always suppressed. A template of unknown category counts as MARKETING. */
export const alwaysSuppressedCategory = 'MARKETING'

/** Which suppressed recipients must not get a message. */
export interface SuppressionRule {
  /** The category of the template. */
  category: string
  /** True if all suppressed recipients are excluded; false if only those who get no messages of any category. */
  all: boolean
}

/** Rejects a message to a suppressed recipient. */
export async function assertNotSuppressed(
  deps: Pick<Deps, 'db' | 'secrets' | 'randomBytes' | 'log'>,
  { accountId, suppressionRule }: { accountId: string; suppressionRule: SuppressionRule },
  recipient: string,
): Promise<void> {
  const found = await findSuppression(deps.db, accountId, recipient, await getCachedHashKey(deps))
  const field = isUserId(recipient) ? 'recipient' : 'to'
  if (!found || !(suppressionRule.all || found.allMessages)) return
  const at = found.since.toISOString()
  const why = { since: { at, english: at }, reason: recipientFacts.reason[found.reason]() }
  const problem = found.allMessages
    ? recipientFacts.suppressed(why)
    : recipientFacts.suppressedCategory({ ...why, category: suppressionRule.category })
  throw new ServiceError('RECIPIENT_SUPPRESSED', errorFactsWithValues.field({ field, problem }), {
    fields: { [field]: problem },
  })
}

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
