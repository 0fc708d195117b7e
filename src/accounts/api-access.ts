import { type Kysely, sql } from 'kysely'
import type { z } from 'zod'
import type { ApiAccess } from '../../contracts/dashboard/public-api.ts'
import type { Deps } from '../deps.ts'
import type { Database } from '../platform/db/schema.ts'
import { accountNotFound } from './account.ts'
import { addressAllowed, windowExpiredAt } from './authenticate-store.ts'
import { normalizeAddress } from './ip-allow-list.ts'

interface ApiAccessRow {
  enabled: boolean
  allowList: string[]
  templateChanges: boolean
  mcp: boolean
  messageContentsDays: number | null
  limit: number
  start: string | null
  keyCreatedAt: Date | null
  /** The minute of the last send, with any key. */
  lastSendAt: Date | null
  used: number
  addressAllowed: boolean
}

/** Takes `lastSendAt` from the rate limit, so that using a key needs no extra write. */
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
      'a.api_enabled as enabled',
      'a.allow_list as allowList',
      'a.template_changes_enabled as templateChanges',
      'a.mcp_enabled as mcp',
      'a.contents_kept_days as messageContentsDays',
      'a.rate_limit_per_minute as limit',
      'k.start',
      'k.created_at as keyCreatedAt',
      'l.window_started_at as lastSendAt',
    ])
    .select([
      sql<number>`case when ${sql.raw(windowExpiredAt('now()'))} then 0 else coalesce(l.used, 0) end`.as('used'),
      sql<boolean>`(select ${sql.raw(addressAllowed('address'))} from (values (${address ?? null}::text)) caller (address))`.as(
        'addressAllowed',
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
    enabled: row.enabled,
    ...(row.start !== null &&
      row.keyCreatedAt !== null && {
        key: {
          start: row.start,
          createdAt: row.keyCreatedAt.toISOString(),
          ...(row.lastSendAt !== null && {
            [row.lastSendAt >= row.keyCreatedAt ? 'lastUsedAt' : 'earlierUseAt']: row.lastSendAt.toISOString(),
          }),
        },
      }),
    allowList: row.allowList,
    templateChanges: row.templateChanges,
    mcp: row.mcp,
    ...(row.messageContentsDays !== null && { messageContentsDays: row.messageContentsDays }),
    rateLimit: { limit: row.limit, used: Math.min(row.used, row.limit) },
    you: { address: address ?? callerAddress, allowed: row.addressAllowed },
  }
}
