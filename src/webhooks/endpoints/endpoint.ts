import type { Kysely } from 'kysely'
import { errorFactsWithValues } from '../../../contracts/facts/errors.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import type { EndpointFailure } from '../../../contracts/dashboard/endpoint-failure.ts'
import type { Endpoint } from '../../../contracts/dashboard/webhook.ts'
import { readDeliveryFailure, readDisabledReason } from '../../../contracts/facts/deliveries.ts'
import { withFacts } from '../../../contracts/facts/fact.ts'
import { requireAccount } from '../../accounts/account.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import { timeOfId } from '../../platform/ids.ts'
import { findLastFailures, type LastFailureRow } from '../statistics/store.ts'
import { type EndpointSummaryRow, findEndpointSummaries, findEndpointSummary } from './store.ts'

/** Omits secrets and headers. */
function toEndpoint(row: EndpointSummaryRow, failures: readonly LastFailureRow[], now: Date): Endpoint {
  const { previous_secret_expires_at: previousUntil } = row
  const failure = failures.find(({ endpoint_id: endpointId }) => endpointId === row.id)
  return {
    endpointId: row.id,
    url: row.url,
    events: row.events,
    state: row.enabled ? 'enabled' : 'disabled',
    ...(!row.enabled && row.disabled_reason !== null && withFacts({ reason: readDisabledReason(row.disabled_reason) })),
    ...(row.description !== null && { description: row.description }),
    hasHeaders: row.headers_encrypted !== null,
    ...(row.max_per_second !== null && { maxPerSecond: row.max_per_second }),
    ...(row.max_concurrent !== null && { maxConcurrent: row.max_concurrent }),
    waiting: Number(row.waiting),
    ...(row.oldest_missed_event !== null && { missedSince: timeOfId(row.oldest_missed_event).toISOString() }),
    ...(row.failing_since && { failed: Number(row.failed) }),
    ...(row.failing_since && { failingSince: row.failing_since.toISOString() }),
    ...(row.failing_since && failure && { failure: toFailure(failure, row.failing_since) }),
    ...(row.last_delivered_at && { lastDeliveredAt: row.last_delivered_at.toISOString() }),
    ...(previousUntil && previousUntil > now && { previousSecretUntil: previousUntil.toISOString() }),
    createdAt: row.created_at.toISOString(),
  }
}

function toFailure(row: LastFailureRow, since: Date): EndpointFailure {
  return {
    since: since.toISOString(),
    ...(row.status_code !== 0 && { statusCode: row.status_code }),
    ...withFacts({ error: readDeliveryFailure(row.error) }),
    durationMilliseconds: row.max_duration_ms,
    isMixed: row.is_mixed,
  }
}

export function endpointNotFound(endpointId: string): ServiceError {
  return new ServiceError('NOT_FOUND', errorFactsWithValues.endpointNotFound({ value: JSON.stringify(endpointId) }), {
    remedy: 'List the endpoints of an account: waybill webhook list <account>',
  })
}

export async function requireEndpoint(
  db: Kysely<Database>,
  accountId: string,
  endpointId: string,
  now: Date,
): Promise<Endpoint> {
  const row = await findEndpointSummary(db, accountId, endpointId)
  if (!row) throw endpointNotFound(endpointId)
  return toEndpoint(row, row.failing_since ? await findLastFailures(db, accountId) : [], now)
}

/** Lists the endpoints of an account, oldest first. */
export async function listEndpoints(deps: Pick<Deps, 'db' | 'now'>, accountId: string): Promise<Endpoint[]> {
  await requireAccount(deps.db, accountId)
  const rows = await findEndpointSummaries(deps.db, accountId)
  const failures = rows.some((row) => row.failing_since) ? await findLastFailures(deps.db, accountId) : []
  return rows.map((row) => toEndpoint(row, failures, deps.now()))
}
