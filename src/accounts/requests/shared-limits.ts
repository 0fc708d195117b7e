import type { Kysely } from 'kysely'
import { arraysOf, type Columns, type Lists, listsOf, namesOf } from '../../platform/db/columns.ts'
import type { Database } from '../../platform/db/schema.ts'
import { statement } from '../../platform/db/statement.ts'
import type { RecordedRequest } from './store.ts'

/** The limits of an account, which all processes share. */
export interface SharedLimits {
  perMinute: number
  bodiesPerMinute: number
}

interface Counts {
  requests: number
  bodies: number
}

/** Requests of an account, or of a key whose account is not known yet. */
interface CallerCounts extends Counts {
  caller: string
  accountId: string | undefined
  keyHash: string | undefined
}

/** What an account has logged in the current minute. */
export interface AccountUse extends Counts {
  caller: string
  accountId: string
}

const columns: Columns<CallerCounts> = {
  caller: { name: 'caller', type: 'word' },
  accountId: { name: 'account_id', type: 'word' },
  keyHash: { name: 'key_hash', type: 'word' },
  requests: { name: 'requests', type: 'integer' },
  bodies: { name: 'bodies', type: 'integer' },
}

const isCurrent = `l.window_started_at between now() - interval '1 minute' and now()`

/** Accounts are locked in order, so that concurrent batches cannot deadlock. */
const count = statement<Lists<CallerCounts>, AccountUse>(
  'count_logged_requests',
  ($) => `with given as (
    select g.caller, coalesce(g.account_id, k.account_id) as account_id, g.requests, g.bodies
    from unnest(${arraysOf($, columns)}) as g (${namesOf(columns)})
    left join api_keys k on g.account_id is null and k.key_hash = decode(g.key_hash, 'hex')
  ), counted as (
    insert into request_log_limits as l (account_id, window_started_at, requests, bodies)
    select account_id, now(), sum(requests)::integer, sum(bodies)::integer
    from given where account_id is not null group by account_id order by account_id
    on conflict (account_id) do update set
      window_started_at = case when ${isCurrent} then l.window_started_at else now() end,
      requests = excluded.requests + case when ${isCurrent} then l.requests else 0 end,
      bodies = excluded.bodies + case when ${isCurrent} then l.bodies else 0 end
    returning account_id, requests, bodies
  )
  select g.caller, c.account_id as "accountId", c.requests, c.bodies from given g join counted c using (account_id)`,
)

/** Adds the requests of a batch to those of all processes, and returns the totals of this minute. */
export async function countLogged(db: Kysely<Database>, requests: readonly RecordedRequest[]): Promise<AccountUse[]> {
  const counts = new Map<string, CallerCounts>()
  for (const request of requests.filter(isCounted)) {
    const { accountId, keyHash } = request
    const caller = callerOf(request)
    const known = counts.get(caller) ?? { caller, accountId, keyHash, requests: 0, bodies: 0 }
    known.requests += 1
    if (request.request !== undefined) known.bodies += 1
    counts.set(caller, known)
  }
  return counts.size === 0 ? [] : count(db, listsOf(columns, [...counts.values()]))
}

/**
 * Returns the requests of a batch that are beyond the limits of their accounts, and those that are logged without their
 * bodies.
 */
export function findBeyondLimits(
  requests: readonly RecordedRequest[],
  totals: readonly AccountUse[],
  limits: SharedLimits,
): { dropped: Set<RecordedRequest>; shortened: RecordedRequest[] } {
  const accountOf = new Map(totals.map(({ caller, accountId }) => [caller, accountId]))
  const usedBy = new Map(totals.map(({ accountId, requests: used, bodies }) => [accountId, { requests: used, bodies }]))
  const dropped = new Set<RecordedRequest>()
  const shortened: RecordedRequest[] = []
  // From the end: the totals include the whole batch, so the last requests are the ones beyond a limit.
  for (const request of requests.toReversed().filter(isCounted)) {
    const used = usedBy.get(accountOf.get(callerOf(request)) ?? '')
    if (!used) continue
    if (used.requests > limits.perMinute) dropped.add(request)
    else if (request.request !== undefined && used.bodies > limits.bodiesPerMinute) shortened.push(request)
    used.requests -= 1
    if (request.request !== undefined) used.bodies -= 1
  }
  return { dropped, shortened }
}

/** Requests that sent messages are limited by the account's rate limit. */
function isCounted({ messageIds }: RecordedRequest): boolean {
  return messageIds === undefined
}

function callerOf({ accountId, keyHash }: RecordedRequest): string {
  return accountId ?? keyHash ?? ''
}
