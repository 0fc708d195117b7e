import { errorFacts } from '../../contracts/facts/errors.ts'
import { sql } from 'kysely'
import { ServiceError } from '../../contracts/errors.ts'
import type { Account } from '../../contracts/operator/account.ts'
import type { Deps } from '../deps.ts'
import { accountNotFound, requireAccount } from './account.ts'

/**
 * Rejects the API key and every send of the account from the next request on, because account data is not cached.
 * The owners' own API access setting does not change. Statuses are still received and delivered.
 */
export async function suspendAccount({ db }: Pick<Deps, 'db'>, accountId: string): Promise<Account> {
  const row = await db
    .updateTable('accounts')
    // A second call keeps the time of the first.
    .set({ suspended_at: sql<Date>`coalesce(suspended_at, now())` })
    .where('id', '=', accountId)
    .returning('id')
    .executeTakeFirst()
  if (!row) throw accountNotFound(accountId)
  return requireAccount(db, accountId)
}

export async function resumeAccount({ db }: Pick<Deps, 'db'>, accountId: string): Promise<Account> {
  const row = await db
    .updateTable('accounts')
    .set({ suspended_at: null })
    .where('id', '=', accountId)
    .returning('id')
    .executeTakeFirst()
  if (!row) throw accountNotFound(accountId)
  return requireAccount(db, accountId)
}

export function accountSuspended(): ServiceError {
  return new ServiceError('API_DISABLED', errorFacts.suspended())
}
