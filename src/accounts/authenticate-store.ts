import type { Kysely } from 'kysely'
import { dedupeByKey } from '../platform/batch.ts'
import { batched } from '../platform/db/batched.ts'
import { arraysOf, type Columns, type Lists, listsOf, namesOf } from '../platform/db/columns.ts'
import type { Database } from '../platform/db/schema.ts'
import { statement } from '../platform/db/statement.ts'
import type { MinuteUse } from './rate-limit.ts'
import { accountSuspended } from './account.ts'

export interface CallerQuery {
  /** Hexadecimal. */
  keyHash: string
  /** Undefined if it is not an IP address. */
  address: string | undefined
  /** Whether to count the request towards the account's rate limit. */
  spend: boolean
}

export interface CallerRow {
  accountId: string
  apiEnabled: boolean
  suspended: boolean
  addressAllowed: boolean
  limit: number
  /** Requests counted in the current minute, including this one; null if none was counted. */
  used: number | null
  /** Whole seconds until the minute ends; null if no request was counted. */
  resetSeconds: number | null
}

/** SQL condition: the account `a` accepts requests from this address, which is null if it is not an IP address. */
export function addressAllowed(address: string): string {
  return `coalesce(cardinality(a.allow_list) = 0 or ${address}::text::inet <<= any (a.allow_list::inet[]), false)`
}

const suspended = 'a.suspended_at is not null as suspended'

/** SQL condition: the stored minute has ended. A start far in the future means that the database clock was set back. */
export function windowExpiredAt(now: string): string {
  return `(${now} - l.window_started_at >= interval '60 seconds'
  or l.window_started_at - ${now} > interval '60 seconds')`
}

const windowExpired = windowExpiredAt('excluded.window_started_at')

/** Counts `used` requests. The count is exact, because the row is locked until the statement ends. */
const spending = `
  on conflict (account_id) do update set
    window_started_at = case when ${windowExpired} then excluded.window_started_at else l.window_started_at end,
    used = case when ${windowExpired} then excluded.used else l.used + excluded.used end
  returning account_id, used,
    ceil(extract(epoch from window_started_at + interval '60 seconds' - now()))::integer as reset_seconds`

const findOne = statement<CallerQuery, CallerRow>(
  'find_caller',
  ($) => `with caller as (
    select a.id, a.api_enabled, ${suspended}, a.rate_limit_per_minute, ${addressAllowed($.address)} as address_allowed
    from api_keys k
    join accounts a on a.id = k.account_id
    where k.key_hash = decode(${$.keyHash}, 'hex')
  ), spent as (
    insert into rate_limits as l (account_id, window_started_at, used)
    select id, now(), 1 from caller where ${$.spend}::boolean and api_enabled and not suspended and address_allowed
    ${spending}
  )
  select caller.id as "accountId", api_enabled as "apiEnabled", suspended, address_allowed as "addressAllowed",
    rate_limit_per_minute as "limit", used, reset_seconds as "resetSeconds"
  from caller left join spent on true`,
)

interface GroupedQuery extends Omit<CallerQuery, 'spend'> {
  /** How many requests of the group count towards the rate limit. */
  requests: number
}

const queryColumns: Columns<GroupedQuery> = {
  keyHash: { name: 'key_hash', type: 'word' },
  address: { name: 'address', type: 'text' },
  requests: { name: 'requests', type: 'integer' },
}

/**
 * Counts all requests of an account in the batch at once, ordered by account, so that batches do not deadlock. Each
 * group gets its own range of the count, of which `used` is the last number, so the limit is exact.
 */
const findMany = statement<Lists<GroupedQuery>, CallerRow & { n: number }>(
  'find_callers',
  ($) => `with caller as (
    select r.n, r.requests, a.id, a.api_enabled, ${suspended}, a.rate_limit_per_minute, ${addressAllowed('r.address')} as address_allowed
    from unnest(${arraysOf($, queryColumns)}) with ordinality as r (${namesOf(queryColumns)}, n)
    join api_keys k on k.key_hash = decode(r.key_hash, 'hex')
    join accounts a on a.id = k.account_id
  ), spender as (
    select id, n, sum(requests) over (partition by id order by n) as running_total, sum(requests) over (partition by id) as total
    from caller where requests > 0 and api_enabled and not suspended and address_allowed
  ), spent as (
    insert into rate_limits as l (account_id, window_started_at, used)
    select id, now(), max(total)::integer from spender group by id order by id
    ${spending}
  )
  select caller.n::integer as n, caller.id as "accountId", api_enabled as "apiEnabled", suspended,
    address_allowed as "addressAllowed", rate_limit_per_minute as "limit",
    (spent.used - spender.total + spender.running_total)::integer as used, spent.reset_seconds as "resetSeconds"
  from caller
  left join spender on spender.n = caller.n
  left join spent on spent.account_id = spender.id`,
)

const spendOne = statement<{ accountId: string }, MinuteUse & { suspended: boolean }>(
  'spend_request',
  ($) => `with account as (
    select a.id, a.rate_limit_per_minute, ${suspended} from accounts a where a.id = ${$.accountId}
  ), spent as (
    insert into rate_limits as l (account_id, window_started_at, used)
    select id, now(), 1 from account where not suspended
    ${spending}
  )
  select rate_limit_per_minute as "limit", coalesce(used, 0) as used, coalesce(reset_seconds, 0) as "resetSeconds", suspended
  from account left join spent on spent.account_id = account.id`,
)

/** Counts one request of the account without an API key; undefined if the account does not exist. */
export async function spendRequest(db: Kysely<Database>, accountId: string): Promise<MinuteUse | undefined> {
  const [row] = await spendOne(db, { accountId })
  if (!row) return undefined
  const { suspended, ...minuteUse } = row
  if (suspended) throw accountSuspended()
  return minuteUse
}

/**
 * Finds the account of a key, checks the address against the allow-list and counts the request, in one statement.
 * Nothing about a key is cached, so a revoked key is rejected immediately on every node. A rejected address is not
 * counted. The row lock makes the count exact over all nodes, and the minute is measured by the database clock. Reads
 * all accounts: the key determines the account.
 */
export const findCaller = batched<CallerQuery, CallerRow | undefined>({
  name: 'find_caller',
  one: async (db, query) => (await findOne(db, query))[0],
  many: async (db, queries) => {
    const groups = dedupeByKey(queries, ({ keyHash, address, spend }) => `${keyHash}${address ?? ''} ${spend}`)
    const grouped = groups.map(({ item: { keyHash, address, spend }, indexes }) => ({
      keyHash,
      address,
      requests: spend ? indexes.length : 0,
    }))
    const rows = await findMany(db, listsOf(queryColumns, grouped))
    const results = Array.from(queries, (): CallerRow | undefined => undefined)
    for (const row of rows) {
      const indexes = groups[row.n - 1]?.indexes ?? []
      indexes.forEach((index, position) => {
        results[index] = { ...row, used: row.used === null ? null : row.used - indexes.length + position + 1 }
      })
    }
    return results
  },
  groupOf: ({ keyHash }) => keyHash,
})
