import { sql, type Kysely } from 'kysely'
import type { Database } from '../db/schema.ts'

export interface CallerRow {
  account_id: string
  api_enabled: boolean
  address_allowed: boolean
  rate_limit_per_minute: number
  /** Requests of the running minute, this one included; null when nothing was spent. */
  used: number | null
  /** Whole seconds until the minute ends; null when nothing was spent. */
  reset_seconds: number | null
}

/**
 * Finds whose key this is, whether the address may use it, and spends one request of the account's
 * minute, in one statement: nothing about a key is cached, so a revoked key is dead at once on
 * every node. A refused address spends nothing. The row lock makes the count exact over all nodes,
 * and the minute is the database's. Reads all accounts: the key says which one.
 */
export async function findCaller(
  db: Kysely<Database>,
  { keyHash, address, spend }: { keyHash: Uint8Array; address: string | undefined; spend: boolean },
): Promise<CallerRow | undefined> {
  const { rows } = await sql<CallerRow>`
    with caller as (
      select a.id, a.api_enabled, a.rate_limit_per_minute,
        coalesce(cardinality(a.allow_list) = 0 or ${address ?? null}::text::inet <<= any (a.allow_list::inet[]), false) as address_allowed
      from api_keys k
      join accounts a on a.id = k.account_id
      where k.key_hash = ${keyHash}
    ), spent as (
      insert into rate_limits as r (account_id, window_started_at, used)
      select id, now(), 1 from caller where ${spend}::boolean and api_enabled and address_allowed
      on conflict (account_id) do update set
        window_started_at = case when r.window_started_at <= now() - interval '60 seconds' then now() else r.window_started_at end,
        used = case when r.window_started_at <= now() - interval '60 seconds' then 1 else r.used + 1 end
      returning used, ceil(extract(epoch from window_started_at + interval '60 seconds' - now()))::integer as reset_seconds
    )
    select caller.id as account_id, api_enabled, address_allowed, rate_limit_per_minute, used, reset_seconds
    from caller left join spent on true`.execute(db)
  return rows[0]
}
