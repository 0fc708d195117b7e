import type { Kysely } from 'kysely'
import { dedupeByKey } from '../platform/batch.ts'
import { batched } from '../platform/db/batched.ts'
import { arraysOf, type Columns, type Lists, listsOf, namesOf } from '../platform/db/columns.ts'
import type { Database } from '../platform/db/schema.ts'
import { statement } from '../platform/db/statement.ts'
import type { Budget } from './rate-limit.ts'

export interface CallerQuestion {
  keyHash: Uint8Array
  /** Undefined when it is no address. */
  address: string | undefined
  /** Whether one request of the account's minute is spent. */
  spend: boolean
}

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

const addressAllowed = (address: string) =>
  `coalesce(cardinality(a.allow_list) = 0 or ${address}::text::inet <<= any (a.allow_list::inet[]), false)`

/** One far ahead began before the database's clock was set back. */
export const windowExpired = `(l.window_started_at <= now() - interval '60 seconds'
  or l.window_started_at > now() + interval '60 seconds')`

/** Spends `used` requests of the row: exact, since the row is locked until the statement ends. */
const spending = `
  on conflict (account_id) do update set
    window_started_at = case when ${windowExpired} then now() else l.window_started_at end,
    used = case when ${windowExpired} then excluded.used else l.used + excluded.used end
  returning account_id, used,
    ceil(extract(epoch from window_started_at + interval '60 seconds' - now()))::integer as reset_seconds`

const findOne = statement<CallerQuestion, CallerRow>(
  'find_caller',
  ($) => `with caller as (
    select a.id, a.api_enabled, a.rate_limit_per_minute, ${addressAllowed($.address)} as address_allowed
    from api_keys k
    join accounts a on a.id = k.account_id
    where k.key_hash = ${$.keyHash}
  ), spent as (
    insert into rate_limits as l (account_id, window_started_at, used)
    select id, now(), 1 from caller where ${$.spend}::boolean and api_enabled and address_allowed
    ${spending}
  )
  select caller.id as account_id, api_enabled, address_allowed, rate_limit_per_minute, used, reset_seconds
  from caller left join spent on true`,
)

interface GroupedQuestion extends Omit<CallerQuestion, 'spend'> {
  /** How many of the group spend a request. */
  requests: number
}

const questionColumns: Columns<GroupedQuestion> = {
  keyHash: { name: 'key_hash', type: 'bytea' },
  address: { name: 'address', type: 'text' },
  requests: { name: 'requests', type: 'integer' },
}

/**
 * Each account spends once for all its requests of the batch, in one order over all batches, and each group
 * of requests gets its own places in the count, of which `used` is the last: what is admitted is exact.
 */
const findMany = statement<Lists<GroupedQuestion>, CallerRow & { n: number }>(
  'find_callers',
  ($) => `with caller as (
    select r.n, r.requests, a.id, a.api_enabled, a.rate_limit_per_minute, ${addressAllowed('r.address')} as address_allowed
    from unnest(${arraysOf($, questionColumns)}) with ordinality as r (${namesOf(questionColumns)}, n)
    join api_keys k on k.key_hash = r.key_hash
    join accounts a on a.id = k.account_id
  ), spender as (
    select id, n, sum(requests) over (partition by id order by n) as place, sum(requests) over (partition by id) as places
    from caller where requests > 0 and api_enabled and address_allowed
  ), spent as (
    insert into rate_limits as l (account_id, window_started_at, used)
    select id, now(), max(places)::integer from spender group by id order by id
    ${spending}
  )
  select caller.n::integer as n, caller.id as account_id, api_enabled, address_allowed, rate_limit_per_minute,
    (spent.used - spender.places + spender.place)::integer as used, spent.reset_seconds
  from caller
  left join spender on spender.n = caller.n
  left join spent on spent.account_id = spender.id`,
)

const spendOne = statement<{ accountId: string }, Budget>(
  'spend_request',
  ($) => `with account as (
    select id, rate_limit_per_minute from accounts where id = ${$.accountId}
  ), spent as (
    insert into rate_limits as l (account_id, window_started_at, used) select id, now(), 1 from account
    ${spending}
  )
  select rate_limit_per_minute as "limit", used, reset_seconds as "resetSeconds"
  from account join spent on spent.account_id = account.id`,
)

/** Spends one request of the account's minute without a key; undefined when there is no such account. */
export async function spendRequest(db: Kysely<Database>, accountId: string): Promise<Budget | undefined> {
  return (await spendOne(db, { accountId }))[0]
}

/**
 * Finds whose key this is, whether the address may use it, and spends one request of the account's
 * minute, in one statement: nothing about a key is cached, so a revoked key is dead at once on
 * every node. A refused address spends nothing. The row lock makes the count exact over all nodes,
 * and the minute is the database's. Reads all accounts: the key says which one.
 */
export const findCaller = batched<CallerQuestion, CallerRow | undefined>({
  one: async (db, question) => (await findOne(db, question))[0],
  many: async (db, questions) => {
    const groups = dedupeByKey(
      questions,
      ({ keyHash, address, spend }) => `${Buffer.from(keyHash).toString('latin1')}${address ?? ''} ${spend}`,
    )
    const grouped = groups.map(({ question: { keyHash, address, spend }, places }) => ({
      keyHash,
      address,
      requests: spend ? places.length : 0,
    }))
    const rows = await findMany(db, listsOf(questionColumns, grouped))
    const answers = Array.from(questions, (): CallerRow | undefined => undefined)
    for (const row of rows) {
      const places = groups[row.n - 1]?.places ?? []
      for (const [index, place] of places.entries())
        answers[place] = { ...row, used: row.used === null ? null : row.used - places.length + index + 1 }
    }
    return answers
  },
  groupOf: ({ keyHash }) => Buffer.from(keyHash).toString('latin1'),
})
