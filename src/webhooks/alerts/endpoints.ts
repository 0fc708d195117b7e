import type { EndpointFailingEvent } from '../../../contracts/events.ts'
import type { Deps } from '../../deps.ts'
import { recordEvents } from '../events/store.ts'
import { type AlertChange, type ReportDeps, reportChanges } from './report.ts'
import { wakeSenders } from './send.ts'
import { type AlertText, formatTime } from './text.ts'
import { type ChangedEndpointRow, findChangedEndpoints, markEndpoint } from './endpoints-store.ts'

/**
 * Announces failing endpoints and recoveries, each once across all nodes: logs them and alerts the members of the
 * account. A failure is also reported to the other endpoints of the account as an event. Returns the number of changes.
 */
export async function announceEndpoints(
  deps: ReportDeps & Pick<Deps, 'db' | 'randomBytes' | 'announcements'>,
): Promise<number> {
  if ((await findChangedEndpoints(deps.db, { claim: false })).length === 0) return 0
  const rows = await deps.db.transaction().execute(async (trx) => {
    const claimed = await findChangedEndpoints(trx, { claim: true })
    for (const row of claimed) await markEndpoint(trx, row, row.is_failing)
    const events = claimed
      .filter((row) => row.is_failing)
      .map((row) => ({
        accountId: row.account_id,
        type: 'endpoint.failing',
        // The column holds the ID of the subject of the event.
        messageId: row.id,
        payload: JSON.stringify(toEvent(row, deps.now())),
        exceptEndpointId: row.id,
      }))
    await recordEvents(trx, events, deps)
    await reportChanges(deps, trx, claimed.map(toChange))
    return claimed
  })
  if (rows.some((row) => row.is_failing)) deps.announcements.announce('deliveries')
  if (rows.length > 0) wakeSenders(deps)
  for (const { account_id: accountId, id: endpointId, is_failing: isFailing, disabled_reason: reason } of rows)
    if (isFailing)
      deps.log.warn({ accountId, endpointId, ...(reason !== null && { reason }) }, 'a webhook endpoint fails')
    else deps.log.info({ accountId, endpointId }, 'a webhook endpoint works again')
  return rows.length
}

/** Names only the host of the URL, which often contains a token, and the description, which distinguishes endpoints. */
function nameEndpoint({ url, description }: ChangedEndpointRow): string {
  const { host } = new URL(url)
  return description === null ? host : `${host} (${description})`
}

function toChange(row: ChangedEndpointRow): AlertChange {
  const { account_id: accountId, id: subjectId, is_failing: isFailing, enabled } = row
  const about = { accountId, subjectId, code: 'endpoint_failing' } as const
  if (!isFailing) return { ...about, kind: 'recovered', severity: 'warning', text: describeRecovery(row) }
  return enabled
    ? { ...about, kind: 'raised', severity: 'warning', text: describeFailing(row) }
    : { ...about, kind: 'raised', severity: 'critical', text: describeDisabled(row) }
}

function describeRecovery(row: ChangedEndpointRow): AlertText {
  const { host } = new URL(row.url)
  const name = nameEndpoint(row)
  return {
    title: `The webhook endpoint at ${host} works again`,
    paragraphs: [`Events are delivered to ${name} again.`],
  }
}

function describeFailing(row: ChangedEndpointRow): AlertText {
  const { host } = new URL(row.url)
  const name = nameEndpoint(row)
  const since = row.failing_since && formatTime(row.failing_since.toISOString())
  return {
    title: `The webhook endpoint at ${host} fails`,
    paragraphs: [
      since === null
        ? `Deliveries to ${name} have failed for several minutes.`
        : `Deliveries to ${name} have failed since ${since}.`,
      'Messages are still sent, but your system does not receive their statuses. Waybill retries the deliveries. Ask your developers to check the endpoint.',
    ],
  }
}

function describeDisabled(row: ChangedEndpointRow): AlertText {
  const { host } = new URL(row.url)
  const name = nameEndpoint(row)
  const reason = row.disabled_reason
  return {
    title: `The webhook endpoint at ${host} was disabled`,
    paragraphs: [
      reason === null
        ? `Waybill disabled the endpoint at ${name}.`
        : `Waybill disabled the endpoint at ${name}: ${reason}.`,
      'Messages are still sent, but your system does not receive their statuses. Deliveries wait until the endpoint is enabled. Fix the receiving server, then enable the endpoint.',
    ],
  }
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
