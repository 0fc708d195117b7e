import type { z } from 'zod'
import type { ApiAccess } from '../../contracts/settings/public-api.ts'
import { normalizeAddress } from '../auth/ip-allow-list.ts'
import type { Deps } from '../deps.ts'
import { findApiAccess } from './api-access-store.ts'
import { noSuchAccount } from './account.ts'

/** What the owner sees of the account's API, from an address of their own. */
export async function getApiAccess(
  { db }: Pick<Deps, 'db'>,
  accountId: string,
  callerAddress: string,
): Promise<z.output<typeof ApiAccess>> {
  const address = normalizeAddress(callerAddress)
  const row = await findApiAccess(db, accountId, address)
  if (!row) throw noSuchAccount(accountId)
  return {
    enabled: row.api_enabled,
    ...(row.start !== null &&
      row.key_created_at !== null && {
        key: {
          start: row.start,
          createdAt: row.key_created_at.toISOString(),
          ...(row.last_used_at !== null && { lastUsedAt: row.last_used_at.toISOString() }),
        },
      }),
    allowList: row.allow_list,
    rateLimit: { limit: row.rate_limit_per_minute, used: Math.min(row.used, row.rate_limit_per_minute) },
    you: { address: address ?? callerAddress, allowed: row.address_allowed },
  }
}
