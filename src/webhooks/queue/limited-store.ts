import { type Kysely, sql } from 'kysely'
import type { Database } from '../../platform/db/schema.ts'
import { countAllowed, type LimitedEndpoint, paceAfter, secondsUntilAllowed } from './endpoint-limits.ts'
import { type Claim, claimDueDeliveries, type ClaimedDelivery } from './store.ts'

/** Maximum number of endpoints per claim; those that were served least recently come first. */
const maxEndpoints = 100

export interface DueLimitedEndpoint extends LimitedEndpoint {
  endpointId: string
  /** Whether the last attempt failed. */
  fails: boolean
}

/** Returns whether any endpoint has limits of its owner. Reads all accounts: one worker serves them all. */
export async function hasLimitedEndpoints(db: Kysely<Database>): Promise<boolean> {
  const { rows } = await sql`
    select from webhook_endpoints where max_per_second is not null or max_concurrent is not null limit 1`.execute(db)
  return rows.length > 0
}

export interface LimitedClaim {
  deliveries: ClaimedDelivery[]
  /** Seconds until an endpoint with due deliveries may get more; undefined if nothing is due. */
  againSeconds: number | undefined
}

/**
 * Claims due deliveries of endpoints with limits. `roomOf` returns how many more of an endpoint this process can take.
 * Each endpoint is locked before its running deliveries are counted, so that two workers cannot both use the same slot;
 * one that another worker has locked is left to it.
 */
export async function claimLimitedDeliveries(
  db: Kysely<Database>,
  claim: Pick<Claim, 'leaseSeconds' | 'limit'>,
  roomOf: (endpoint: DueLimitedEndpoint) => number,
): Promise<LimitedClaim> {
  const countRoom = (endpoint: DueLimitedEndpoint) => Math.min(countAllowed(endpoint), roomOf(endpoint), claim.limit)
  const due = await findDueLimited(db)
  const open = due.filter((endpoint) => countRoom(endpoint) > 0)
  const againSeconds = due.length === 0 ? undefined : Math.min(...due.map(secondsUntilAllowed))
  if (open.length === 0) return { deliveries: [], againSeconds }
  const deliveries = await db.transaction().execute(async (trx) => {
    const locked = await lockEndpoints(trx, open)
    if (locked.length === 0) return []
    // A new statement sees what other workers had committed before they released the locks.
    const endpoints = await findDueLimited(trx, locked)
    const rooms = endpoints.map((endpoint) => ({
      endpointId: endpoint.endpointId,
      deliveries: Math.max(0, countRoom(endpoint)),
    }))
    const claimed = await claimDueDeliveries(trx, {
      ...claim,
      afterEndpointId: '',
      rooms,
      otherwise: 0,
      whileFailing: 0,
      isLimited: true,
    })
    await movePacing(trx, endpoints, claimed)
    return claimed
  })
  return { deliveries, againSeconds }
}

/** Finds enabled endpoints with limits that have due deliveries. */
async function findDueLimited(db: Kysely<Database>, ids?: readonly string[]): Promise<DueLimitedEndpoint[]> {
  const { rows } = await sql<DueLimitedEndpoint>`
    select e.id as "endpointId", e.failing_since is not null as "fails",
      e.max_per_second as "maxPerSecond", e.max_concurrent as "maxConcurrent",
      coalesce(extract(epoch from e.paced_until - now()), -1)::float8 as "pacedSeconds",
      case when e.max_concurrent is null then 0 else (
        select count(*) from webhook_deliveries where endpoint_id = e.id and claimed and due_at > now()
      ) end::integer as running
    from webhook_endpoints e
    where (e.max_per_second is not null or e.max_concurrent is not null) and e.enabled
      ${ids === undefined ? sql`` : sql`and e.id = any (${ids}::text[])`}
      and (
        exists (select from webhook_deliveries where endpoint_id = e.id and not claimed and due_at <= now())
        or exists (select from webhook_deliveries where endpoint_id = e.id and claimed and due_at <= now())
      )
    order by e.paced_until nulls first, e.id
    limit ${sql.lit(maxEndpoints)}`.execute(db)
  return rows
}

async function lockEndpoints(db: Kysely<Database>, endpoints: readonly DueLimitedEndpoint[]): Promise<string[]> {
  const ids = endpoints.map(({ endpointId }) => endpointId)
  const { rows } = await sql<{ id: string }>`
    select id from webhook_endpoints where id = any (${ids}::text[]) order by id for update skip locked`.execute(db)
  return rows.map(({ id }) => id)
}

async function movePacing(
  db: Kysely<Database>,
  endpoints: readonly DueLimitedEndpoint[],
  claimed: readonly ClaimedDelivery[],
): Promise<void> {
  const counts = new Map<string, number>()
  for (const { endpoint_id: id } of claimed) counts.set(id, (counts.get(id) ?? 0) + 1)
  const served = endpoints.filter(({ endpointId }) => counts.has(endpointId))
  if (served.length === 0) return
  await sql`
    update webhook_endpoints e set paced_until = now() + paced.seconds * interval '1 second'
    from unnest(
      ${served.map(({ endpointId }) => endpointId)}::text[],
      ${served.map((endpoint) => paceAfter(endpoint, counts.get(endpoint.endpointId) ?? 0))}::float8[]
    ) as paced (id, seconds)
    where e.id = paced.id`.execute(db)
}
