import type { EndpointFailingEvent } from '../../../contracts/events.ts'
import type { Deps } from '../../deps.ts'
import { recordEvents } from '../events/store.ts'
import { type ChangedEndpointRow, findChangedEndpoints, markEndpoint } from './endpoints-store.ts'

/**
 * Announces endpoints that fail, each once, whichever node does it: with a log line, and with an event for the other
 * endpoints of the account. Logs when an announced endpoint works again. Returns the number of changes.
 */
export async function announceEndpoints(
  deps: Pick<Deps, 'db' | 'now' | 'log' | 'newId' | 'randomBytes' | 'announcements'>,
): Promise<number> {
  if ((await findChangedEndpoints(deps.db, { claim: false })).length === 0) return 0
  const rows = await deps.db.transaction().execute(async (trx) => {
    const claimed = await findChangedEndpoints(trx, { claim: true })
    for (const row of claimed) await markEndpoint(trx, row, row.fails)
    const events = claimed
      .filter(({ fails }) => fails)
      .map((row) => ({
        accountId: row.account_id,
        type: 'endpoint.failing',
        // The column holds the ID of what the event is about.
        messageId: row.id,
        payload: JSON.stringify(toEvent(row, deps.now())),
        exceptEndpointId: row.id,
      }))
    await recordEvents(trx, events, deps)
    return claimed
  })
  if (rows.some(({ fails }) => fails)) deps.announcements.announce('deliveries')
  for (const { account_id: accountId, id: endpointId, fails, disabled_reason: reason } of rows)
    if (fails) deps.log.warn({ accountId, endpointId, ...(reason !== null && { reason }) }, 'a webhook endpoint fails')
    else deps.log.info({ accountId, endpointId }, 'a webhook endpoint works again')
  return rows.length
}

function toEvent(row: ChangedEndpointRow, now: Date): EndpointFailingEvent {
  return {
    type: 'endpoint.failing',
    timestamp: now.toISOString(),
    data: {
      endpointId: row.id,
      host: new URL(row.url).host,
      disabled: !row.enabled,
      ...(row.failing_since && { failingSince: row.failing_since.toISOString() }),
      ...(!row.enabled && row.disabled_reason !== null && { reason: row.disabled_reason }),
    },
  }
}
