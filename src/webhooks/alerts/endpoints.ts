import type { EndpointFailingEvent } from '../../../contracts/events.ts'
import type { Deps } from '../../deps.ts'
import { recordEvents } from '../events/store.ts'
import { type AlertChange, type ReportDeps, reportChanges } from './report.ts'
import { wakeSenders } from './send.ts'
import { type AlertText, formatTime } from './text.ts'
import { type ChangedEndpointRow, findChangedEndpoints, markEndpoint } from './endpoints-store.ts'

/**
 * Announces endpoints that fail, each once, whichever node does it: with a log line, and with an event for the other
 * endpoints of the account; its members are alerted. Also reports when an announced endpoint works again. Returns the number of changes.
 */
export async function announceEndpoints(
  deps: ReportDeps & Pick<Deps, 'db' | 'randomBytes' | 'announcements'>,
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
    await reportChanges(deps, trx, claimed.map(toChange))
    return claimed
  })
  if (rows.some(({ fails }) => fails)) deps.announcements.announce('deliveries')
  if (rows.length > 0) wakeSenders(deps)
  for (const { account_id: accountId, id: endpointId, fails, disabled_reason: reason } of rows)
    if (fails) deps.log.warn({ accountId, endpointId, ...(reason !== null && { reason }) }, 'a webhook endpoint fails')
    else deps.log.info({ accountId, endpointId }, 'a webhook endpoint works again')
  return rows.length
}

/** A URL often holds a token, so only its host is named, with the description that tells two endpoints of it apart. */
function nameEndpoint({ url, description }: ChangedEndpointRow): string {
  const { host } = new URL(url)
  return description === null ? host : `${host} (${description})`
}

function toChange(row: ChangedEndpointRow): AlertChange {
  const { account_id: accountId, id: subjectId, fails, enabled } = row
  const about = { accountId, subjectId, code: 'endpoint_failing' } as const
  if (!fails) return { ...about, kind: 'recovered', severity: 'warning', text: describeRecovery(row) }
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
      'Messages are still sent, but this system does not learn whether they arrive. Waybill repeats the deliveries. Ask whoever runs the system to check it.',
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
      'Messages are still sent, but this system does not learn whether they arrive. Its deliveries wait. Repair the server that receives them, then enable the endpoint.',
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
