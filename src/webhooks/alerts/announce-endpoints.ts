import { type Kysely, sql } from 'kysely'
import type { EndpointFailingEvent } from '../../../contracts/events.ts'
import { alertFacts, timeOf } from '../../../contracts/facts/alerts.ts'
import { readDisabledReason } from '../../../contracts/facts/deliveries.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import { recordEvents, toUnrecordedEvent } from '../events.ts'
import { failingReason, goneReason } from '../queue/store.ts'
import { type AlertChange, reportChanges, type ReportDeps } from './report.ts'
import { wakeSenders } from './send.ts'

const facts = alertFacts.endpoint

/**
 * Announces failing endpoints and recoveries, each once across all nodes: logs them and alerts the members of the
 * account. A failure is also reported to the other endpoints of the account as an event. Returns the number of changes.
 */
export async function announceEndpoints(
  deps: ReportDeps & Pick<Deps, 'db' | 'randomBytes' | 'notifications'>,
): Promise<number> {
  if ((await findChangedEndpoints(deps.db, { claim: false })).length === 0) return 0
  const rows = await deps.db.transaction().execute(async (trx) => {
    const claimed = await findChangedEndpoints(trx, { claim: true })
    for (const row of claimed) await markEndpoint(trx, row)
    const events = claimed
      .filter((row) => row.isFailing)
      .map((row) => ({
        ...toUnrecordedEvent({ accountId: row.accountId, id: row.id }, toEvent(row, deps.now())),
        exceptEndpointId: row.id,
      }))
    await reportChanges(deps, trx, claimed.map(toChange))
    await recordEvents(deps, trx, events)
    return claimed
  })
  if (rows.some((row) => row.isFailing)) deps.notifications.notify('deliveries')
  if (rows.length > 0) wakeSenders(deps)
  for (const { accountId, id: endpointId, isFailing, disabledReason: reason } of rows)
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
  const { accountId, id: subjectId, isFailing, enabled } = row
  const about = { accountId, subjectId, code: 'endpoint_failing' } as const
  const { host } = new URL(row.url)
  const name = nameEndpoint(row)
  if (!isFailing) {
    const said = { title: facts.works({ host }), paragraphs: [facts.delivered({ name })] }
    return { ...about, kind: 'recovered', severity: 'warning', ...said }
  }
  const { failingSince: since, disabledReason: reason } = row
  if (enabled) {
    const failed = since === null ? facts.failsForMinutes({ name }) : facts.failsSince({ name, since: timeOf(since) })
    const said = { title: facts.fails({ host }), paragraphs: [failed, facts.retried()] }
    return { ...about, kind: 'raised', severity: 'warning', ...said }
  }
  const disabled =
    reason === null ? facts.disabledBy({ name }) : facts.disabledFor({ name, reason: readDisabledReason(reason) })
  const said = { title: facts.disabled({ host }), paragraphs: [disabled, facts.waiting()] }
  return { ...about, kind: 'raised', severity: 'critical', ...said }
}

function toEvent(row: ChangedEndpointRow, now: Date): EndpointFailingEvent {
  return {
    type: 'endpoint.failing',
    timestamp: now.toISOString(),
    data: {
      endpointId: row.id,
      host: new URL(row.url).host,
      disabled: !row.enabled,
      ...(row.failingSince && { failingSince: row.failingSince.toISOString() }),
      ...(!row.enabled && row.disabledReason !== null && { reason: row.disabledReason }),
    },
  }
}

/** Shorter outages are usually deployments. */
const failingSeconds = 5 * 60

/** An endpoint whose failure or recovery has not been announced. */
interface ChangedEndpointRow {
  accountId: string
  id: string
  url: string
  description: string | null
  enabled: boolean
  disabledReason: string | null
  failingSince: Date | null
  isFailing: boolean
}

const maxRows = 200

/**
 * Finds endpoints that started failing, that Waybill disabled or that recovered, and whose change has not been
 * announced. In a transaction, `claim` locks them, so that only one node announces each. Reads all accounts.
 */
async function findChangedEndpoints(
  db: Kysely<Database>,
  { claim }: { claim: boolean },
): Promise<ChangedEndpointRow[]> {
  const disabledByWaybill = [failingReason, goneReason]
  const { rows } = await sql<ChangedEndpointRow>`
    select e.account_id as "accountId", e.id, e.url, e.description, e.enabled,
      e.disabled_reason as "disabledReason", e.failing_since as "failingSince", state.is_failing as "isFailing"
    from webhook_endpoints e
    cross join lateral (
      select case when e.enabled
        then coalesce(e.failing_since <= now() - ${failingSeconds} * interval '1 second', false)
        else coalesce(e.disabled_reason = any (${sql.val(disabledByWaybill)}::text[]), false)
      end as is_failing
    ) state
    where state.is_failing and not e.announced_failing
      -- A failing endpoint that a user disabled has not recovered.
      or e.announced_failing and not state.is_failing and e.enabled and e.failing_since is null
    order by e.account_id, e.id
    limit ${maxRows}
    ${claim ? sql`for no key update of e skip locked` : sql``}`.execute(db)
  return rows
}

async function markEndpoint(db: Kysely<Database>, { accountId, id, isFailing }: ChangedEndpointRow): Promise<void> {
  await db
    .updateTable('webhook_endpoints')
    .set({ announced_failing: isFailing })
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .execute()
}
