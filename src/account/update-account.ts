import type { Deps } from '../deps.ts'
import { noSuchAccount, requireAccount, type Account } from './account.ts'
import { OperatorError } from './operator-error.ts'
import { changeAccount } from './store.ts'

const maxRateLimit = 1_000_000

export interface AccountUpdate {
  apiEnabled?: boolean | undefined
  rateLimit?: number | undefined
}

/** Takes effect with the next request: nothing about an account is cached. */
export async function updateAccount(
  deps: Pick<Deps, 'db'>,
  accountId: string,
  { apiEnabled, rateLimit }: AccountUpdate,
): Promise<Account> {
  if (apiEnabled === undefined && rateLimit === undefined)
    throw new OperatorError('There is nothing to change: give --api, --rate-limit, or both.')
  if (rateLimit !== undefined && !isRateLimit(rateLimit))
    throw new OperatorError(`A rate limit is a whole number of requests a minute, 1 to ${maxRateLimit}.`)
  const changed = await changeAccount(deps.db, accountId, {
    ...(apiEnabled !== undefined && { api_enabled: apiEnabled }),
    ...(rateLimit !== undefined && { rate_limit_per_minute: rateLimit }),
  })
  if (!changed) throw noSuchAccount(accountId)
  return requireAccount(deps.db, accountId)
}

function isRateLimit(value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= maxRateLimit
}
