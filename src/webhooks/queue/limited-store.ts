import { type Kysely, sql } from 'kysely'
import { clockToleranceSeconds } from '../../platform/db/clock.ts'
import type { Database } from '../../platform/db/schema.ts'
import {
  countAllowed,
  fullRetrySeconds,
  type LimitedEndpoint,
  paceAfter,
  roundingTolerance,
  secondsUntilAllowed,
} from './endpoint-limits.ts'
import { type Claim, claimDueDeliveries, type ClaimedDelivery } from './store.ts'

/** Maximum number of endpoints per claim. The least recently served ones come first. */
const maxEndpoints = 100
/** Maximum number of endpoints to choose from, because this process may have no capacity for most of them. */
const maxFound = 1_000

export interface DueLimitedEndpoint extends LimitedEndpoint {
  endpointId: string
  /** Whether the last attempt failed. */
  isFailing: boolean
}

/** Returns whether any endpoint has configured limits. Reads all accounts: one worker serves them all. */
export async function hasLimitedEndpoints(db: Kysely<Database>): Promise<boolean> {
  const { rows } = await sql`
    select from webhook_endpoints where max_per_second is not null or max_concurrent is not null limit 1`.execute(db)
  return rows.length > 0
}

export interface LimitedClaim {
  deliveries: ClaimedDelivery[]
  /** Seconds until an endpoint with due deliveries may start more; undefined if nothing is due. */
  nextClaimSeconds: number | undefined
}

/**
 * Claims due deliveries of endpoints with limits. `capacityOf` returns how many more deliveries of an endpoint this
 * process can take. Each endpoint is locked before its running deliveries are counted, so that two workers cannot both
 * use the same slot. Endpoints that another worker has locked are skipped.
 */
export async function claimLimitedDeliveries(
  db: Kysely<Database>,
  claim: Pick<Claim, 'leaseSeconds' | 'limit'>,
  capacityOf: (endpoint: DueLimitedEndpoint) => number,
): Promise<LimitedClaim> {
  const countClaimable = (endpoint: DueLimitedEndpoint) =>
    Math.min(countAllowed(endpoint), capacityOf(endpoint), claim.limit)
  const due = await findDueLimited(db)
  const available = due.filter((endpoint) => countClaimable(endpoint) > 0).slice(0, maxEndpoints)
  const nextClaimSeconds = due.length === 0 ? undefined : Math.min(...due.map(secondsUntilAllowed))
  if (available.length === 0) return { deliveries: [], nextClaimSeconds }
  const deliveries = await db.transaction().execute(async (trx) => {
    const locked = await lockEndpoints(trx, available)
    if (locked.length === 0) return []
    // A new statement sees what other workers committed before they released the locks.
    const endpoints = await findDueLimited(trx, locked)
    const capacities = endpoints.map((endpoint) => ({
      endpointId: endpoint.endpointId,
      deliveries: Math.max(0, countClaimable(endpoint)),
    }))
    const claimed = await claimDueDeliveries(trx, {
      ...claim,
      afterEndpointId: '',
      capacities,
      defaultWindow: 0,
      failingWindow: 0,
      isLimited: true,
    })
    await advancePacing(trx, endpoints, claimed)
    return claimed
  })
  return { deliveries, nextClaimSeconds }
}

/**
 * Finds enabled endpoints with limits that have due deliveries: those that may start attempts (`countAllowed`), and the
 * next one to do so. Those at their limit are left out before the endpoints are counted, so that any number of them
 * cannot keep the others from being found.
 */
async function findDueLimited(db: Kysely<Database>, ids?: readonly string[]): Promise<DueLimitedEndpoint[]> {
  const { rows } = await sql<DueLimitedEndpoint>`
    with due as materialized (
      select e.id as "endpointId", e.failing_since is not null as "isFailing",
        e.max_per_second as "maxPerSecond", e.max_concurrent as "maxConcurrent", e.paced_until,
        -- Only a clock that was set back leaves the pacing time far in the future.
        case
          when e.paced_until < now() + make_interval(secs => ${sql.lit(clockToleranceSeconds)})
          then extract(epoch from e.paced_until - now())
          else -1
        end::float8 as "pacedSeconds",
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
    ), allowed as (
      select * from due
      where ("maxConcurrent" is null or running < "maxConcurrent")
        and ("maxPerSecond" is null or -"pacedSeconds" * "maxPerSecond" >= ${sql.lit(1 - roundingTolerance)})
      order by paced_until nulls first, "endpointId"
      limit ${sql.lit(maxFound)}
    ), next as (
      select * from due order by coalesce(1.0 / "maxPerSecond" + "pacedSeconds", ${sql.lit(fullRetrySeconds)}) limit 1
    )
    select * from allowed union select * from next
    order by paced_until nulls first, "endpointId"`.execute(db)
  return rows
}

async function lockEndpoints(db: Kysely<Database>, endpoints: readonly DueLimitedEndpoint[]): Promise<string[]> {
  const ids = endpoints.map(({ endpointId }) => endpointId)
  const { rows } = await sql<{ id: string }>`
    select id from webhook_endpoints where id = any (${ids}::text[]) order by id for update skip locked`.execute(db)
  return rows.map(({ id }) => id)
}

async function advancePacing(
  db: Kysely<Database>,
  endpoints: readonly DueLimitedEndpoint[],
  claimed: readonly ClaimedDelivery[],
): Promise<void> {
  const counts = new Map<string, number>()
  for (const { endpointId: id } of claimed) counts.set(id, (counts.get(id) ?? 0) + 1)
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
