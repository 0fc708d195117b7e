import { type Kysely, sql } from 'kysely'
import type { z } from 'zod'
import type { ApiAccess } from '../../contracts/dashboard/public-api.ts'
import type { Deps } from '../deps.ts'
import type { Database } from '../platform/db/schema.ts'
import { accountNotFound } from './account.ts'
import { addressAllowed, windowExpiredAt } from './authenticate-store.ts'
import { normalizeAddress } from './ip-allow-list.ts'

interface ApiAccessRow {
  api_enabled: boolean
  allow_list: string[]
  template_changes_enabled: boolean
  mcp_enabled: boolean
  contents_kept_days: number | null
  rate_limit_per_minute: number
  start: string | null
  key_created_at: Date | null
  /** The minute of the last send, with any key. */
  last_send_at: Date | null
  used: number
  address_allowed: boolean
}

/** Takes `last_send_at` from the rate limit, so that using a key needs no extra write. */
async function findApiAccess(
  db: Kysely<Database>,
  accountId: string,
  address: string | undefined,
): Promise<ApiAccessRow | undefined> {
  return db
    .selectFrom('accounts as a')
    .leftJoin('api_keys as k', 'k.account_id', 'a.id')
    .leftJoin('rate_limits as l', 'l.account_id', 'a.id')
    .select([
      'a.api_enabled',
      'a.allow_list',
      'a.template_changes_enabled',
      'a.mcp_enabled',
      'a.contents_kept_days',
      'a.rate_limit_per_minute',
      'k.start',
      'k.created_at as key_created_at',
      'l.window_started_at as last_send_at',
    ])
    .select([
      sql<number>`case when ${sql.raw(windowExpiredAt('now()'))} then 0 else coalesce(l.used, 0) end`.as('used'),
      sql<boolean>`(select ${sql.raw(addressAllowed('address'))} from (values (${address ?? null}::text)) caller (address))`.as(
        'address_allowed',
      ),
    ])
    .where('a.id', '=', accountId)
    .executeTakeFirst()
}

/** Returns the API settings of an account as shown to its users, with the caller's address. */
export async function getApiAccess(
  { db }: Pick<Deps, 'db'>,
  accountId: string,
  callerAddress: string,
): Promise<z.output<typeof ApiAccess>> {
  const address = normalizeAddress(callerAddress)
  const row = await findApiAccess(db, accountId, address)
  if (!row) throw accountNotFound(accountId)
  return {
    enabled: row.api_enabled,
    ...(row.start !== null &&
      row.key_created_at !== null && {
        key: {
          start: row.start,
          createdAt: row.key_created_at.toISOString(),
          ...(row.last_send_at !== null && {
            [row.last_send_at >= row.key_created_at ? 'lastUsedAt' : 'earlierUseAt']: row.last_send_at.toISOString(),
          }),
        },
      }),
    allowList: row.allow_list,
    templateChanges: row.template_changes_enabled,
    mcp: row.mcp_enabled,
    ...(row.contents_kept_days !== null && { messageContentsDays: row.contents_kept_days }),
    rateLimit: { limit: row.rate_limit_per_minute, used: Math.min(row.used, row.rate_limit_per_minute) },
    you: { address: address ?? callerAddress, allowed: row.address_allowed },
  }
}
