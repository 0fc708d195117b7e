import type { z } from 'zod'
import type { testEndpoint as contract } from '../../../contracts/dashboard/webhook.ts'
import type { TestEvent } from '../../../contracts/events.ts'
import { withFacts } from '../../../contracts/facts/fact.ts'
import type { OutputOf } from '../../../contracts/procedure.ts'
import type { Deps } from '../../deps.ts'
import { endpointNotFound } from './endpoint.ts'
import { decryptEndpoint } from './secrets.ts'
import { findEndpoint } from './store.ts'

export type EndpointTest = OutputOf<typeof contract>

/**
 * Sends a `webhook.test` event once, immediately, even to a disabled endpoint. The result is returned and does not
 * change the state of the endpoint.
 */
export async function testEndpoint(
  deps: Pick<Deps, 'db' | 'now' | 'newId' | 'secrets' | 'webhooks'>,
  accountId: string,
  endpointId: string,
): Promise<EndpointTest> {
  const row = await findEndpoint(deps.db, accountId, endpointId)
  if (!row) throw endpointNotFound(endpointId)
  const timestamp = deps.now()
  const eventId = deps.newId('evt')
  const event: z.infer<typeof TestEvent> = {
    type: 'webhook.test',
    timestamp: timestamp.toISOString(),
    data: { endpointId },
  }
  const decrypted = decryptEndpoint(deps.secrets, row.id, row, timestamp)
  const payload = JSON.stringify(event)
  const { outcome, durationMilliseconds, statusCode, error, responseStart } =
    'unreadable' in decrypted
      ? decrypted.unreadable
      : await deps.webhooks.attempt({ url: row.url, eventId, payload, timestamp, ...decrypted })
  return {
    endpointId,
    eventId,
    delivered: outcome === 'delivered',
    durationMilliseconds: Math.round(durationMilliseconds),
    ...(statusCode !== undefined && { statusCode }),
    ...(error !== undefined && withFacts({ error })),
    ...(responseStart !== undefined && { responseStart }),
  }
}
