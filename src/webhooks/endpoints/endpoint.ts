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
  const { previousSecretExpiresAt: previousUntil } = row
  const failure = failures.find(({ endpointId }) => endpointId === row.id)
  return {
    endpointId: row.id,
    url: row.url,
    events: row.events,
    state: row.enabled ? 'enabled' : 'disabled',
    ...(!row.enabled && row.disabledReason !== null && withFacts({ reason: readDisabledReason(row.disabledReason) })),
    ...(row.description !== null && { description: row.description }),
    hasHeaders: row.headersEncrypted !== null,
    ...(row.maxPerSecond !== null && { maxPerSecond: row.maxPerSecond }),
    ...(row.maxConcurrent !== null && { maxConcurrent: row.maxConcurrent }),
    waiting: Number(row.waiting),
    ...(row.oldestMissedEvent !== null && { missedSince: timeOfId(row.oldestMissedEvent).toISOString() }),
    ...(row.failingSince && { failed: Number(row.failed) }),
    ...(row.failingSince && { failingSince: row.failingSince.toISOString() }),
    ...(row.failingSince && failure && { failure: toFailure(failure, row.failingSince) }),
    ...(row.lastDeliveredAt && { lastDeliveredAt: row.lastDeliveredAt.toISOString() }),
    ...(previousUntil && previousUntil > now && { previousSecretUntil: previousUntil.toISOString() }),
    createdAt: row.createdAt.toISOString(),
  }
}

function toFailure(row: LastFailureRow, since: Date): EndpointFailure {
  return {
    since: since.toISOString(),
    ...(row.statusCode !== 0 && { statusCode: row.statusCode }),
    ...withFacts({ error: readDeliveryFailure(row.error) }),
    durationMilliseconds: row.maxDurationMilliseconds,
    isMixed: row.isMixed,
  }
}

export function endpointNotFound(endpointId: string): ServiceError {
  return new ServiceError('NOT_FOUND', errorFactsWithValues.endpointNotFound({ value: JSON.stringify(endpointId) }), {
    remedy: 'List the endpoints of an account: waybill webhook list ACC',
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
  return toEndpoint(row, row.failingSince ? await findLastFailures(db, accountId) : [], now)
}

/** Lists the endpoints of an account, oldest first. */
export async function listEndpoints(deps: Pick<Deps, 'db' | 'now'>, accountId: string): Promise<Endpoint[]> {
  await requireAccount(deps.db, accountId)
  const rows = await findEndpointSummaries(deps.db, accountId)
  const failures = rows.some((row) => row.failingSince) ? await findLastFailures(deps.db, accountId) : []
  return rows.map((row) => toEndpoint(row, failures, deps.now()))
}
