import { type Kysely, sql } from 'kysely'
import type { TemplateEvent } from '../../../contracts/events.ts'
import { alertFacts } from '../../../contracts/facts/alerts.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import { recordEvents, toUnrecordedEvent } from '../events.ts'
import { type AlertChange, type ReportDeps, reportChanges } from './report.ts'
import { wakeSenders } from './send.ts'

type AlertDeps = ReportDeps & Pick<Deps, 'db' | 'randomBytes' | 'notifications'>

/** Announced categories are reported by announce-upcoming-categories.ts. */
type CompletedEvent = Exclude<TemplateEvent, { type: 'template.category_changing' }>

/** A template that WhatsApp has changed, with the WhatsApp accounts that share it. */
export interface ReportedTemplate {
  accountId: string
  wabaId: string
  name: string
  language: string
  templateId: string
  status: string
  category: string | null
  whatsAppAccountIds: string[]
}

/** Selects a `ReportedTemplate` of the templates `t`. */
export const reportedColumns = sql`t.account_id as "accountId", t.waba_id as "wabaId", t.name, t.language,
      t.whatsapp_template_id as "templateId", t.status, t.category,
      array(
        select w.id from whatsapp_accounts w
        where w.account_id = t.account_id and w.waba_id = t.waba_id order by w.id
      ) as "whatsAppAccountIds"`

interface ChangedTemplate extends ReportedTemplate {
  rejectedReason: string | null
  qualityScore: string | null
  announcedStatus: string | null
  announcedCategory: string | null
}

const maxRows = 200
const facts = alertFacts.template

/**
 * Announces review results, pauses and category changes of templates, each once across all nodes, in the log and as
 * events. Callbacks and syncs only store the state, so that a lost callback loses no event. Reads all accounts. Returns
 * the number of announcements.
 */
export async function announceTemplateChanges(deps: AlertDeps): Promise<number> {
  const announced = await deps.db.transaction().execute(async (trx) => {
    const rows = await claimChanged(trx)
    const timestamp = deps.now().toISOString()
    const changes = rows.flatMap((row) => listTemplateEvents(row, timestamp).map((event) => ({ row, event })))
    for (const row of rows) await markAnnounced(trx, row)
    const events = changes.map(({ row, event }) =>
      toUnrecordedEvent({ accountId: row.accountId, id: row.templateId }, event),
    )
    await reportChanges(
      deps,
      trx,
      changes.flatMap(({ row, event }) => toChange(row, event) ?? []),
    )
    await recordEvents(deps, trx, events)
    return changes
  })
  // After the commit, so that the workers can already see the deliveries.
  if (announced.length > 0) {
    deps.notifications.notify('deliveries')
    wakeSenders(deps)
  }
  for (const { row, event } of announced) logEvent(deps, row, event)
  return announced.length
}

/** Locks the templates, so that only one node announces each. A partial index covers exactly these rows. */
async function claimChanged(trx: Kysely<Database>): Promise<ChangedTemplate[]> {
  const { rows } = await sql<ChangedTemplate>`
    select ${reportedColumns}, t.rejected_reason as "rejectedReason", t.quality_score as "qualityScore",
      t.announced_status as "announcedStatus", t.announced_category as "announcedCategory"
    from templates t
    where t.announced_status is distinct from t.status or t.announced_category is distinct from t.category
    order by t.account_id, t.waba_id, t.name, t.language
    limit ${maxRows}
    for update of t skip locked`.execute(trx)
  return rows
}

/** Returns the events of a change; none if the state of the template was never announced. */
function listTemplateEvents(row: ChangedTemplate, timestamp: string): CompletedEvent[] {
  const { status, category, announcedStatus: previousStatus, announcedCategory: previousCategory } = row
  const data = {
    template: row.name,
    language: row.language,
    templateId: row.templateId,
    accountIds: row.whatsAppAccountIds,
    status,
    ...(category !== null && { category }),
  }
  const events: CompletedEvent[] = []
  const hasNewStatus = previousStatus !== null && previousStatus !== status
  if (hasNewStatus && status === 'APPROVED') events.push({ type: 'template.approved', timestamp, data })
  if (hasNewStatus && status === 'REJECTED')
    events.push({ type: 'template.rejected', timestamp, data: { ...data, reason: row.rejectedReason ?? 'UNKNOWN' } })
  if (hasNewStatus && (status === 'PAUSED' || status === 'DISABLED'))
    events.push({
      type: 'template.paused',
      timestamp,
      data: { ...data, ...(row.qualityScore !== null && { qualityScore: row.qualityScore }) },
    })
  if (previousCategory !== null && category !== null && previousCategory !== category)
    events.push({ type: 'template.category_changed', timestamp, data: { ...data, category, previousCategory } })
  return events
}

/** Returns undefined for a category change. */
function toChange(row: ChangedTemplate, { type, data }: CompletedEvent): AlertChange | undefined {
  const about = {
    accountId: row.accountId,
    code: 'template_stopped',
    subjectId: row.templateId,
    severity: 'warning',
  } as const
  // A stopped template that is corrected is pending before it is approved, as a new one is.
  const wasStopped = row.announcedStatus !== null && stoppedStatuses.has(row.announcedStatus)
  switch (type) {
    case 'template.rejected':
      return {
        ...about,
        kind: 'raised',
        anew: !wasStopped,
        title: facts.rejected(row),
        paragraphs: [facts.reason(data), facts.change()],
      }
    case 'template.paused':
      return {
        ...about,
        kind: 'raised',
        anew: !wasStopped,
        title: data.status === 'DISABLED' ? facts.disabled(row) : facts.paused(row),
        paragraphs: [facts.reported(), facts.sendLess()],
      }
    case 'template.approved':
      return {
        ...about,
        kind: 'recovered',
        title: facts.approved(row),
        paragraphs: [facts.sendable()],
        ifOpen: !wasStopped,
      }
    case 'template.category_changed':
      return undefined
  }
}

const stoppedStatuses = new Set(['REJECTED', 'PAUSED', 'DISABLED'])

async function markAnnounced(trx: Kysely<Database>, row: ChangedTemplate): Promise<void> {
  await trx
    .updateTable('templates')
    .set({ announced_status: row.status, announced_category: row.category })
    .where((eb) => eb.and({ account_id: row.accountId, waba_id: row.wabaId, name: row.name, language: row.language }))
    .execute()
}

function logEvent({ log }: AlertDeps, { accountId }: ChangedTemplate, { type, data }: CompletedEvent): void {
  const { template, language } = data
  const about = { accountId, template, language }
  switch (type) {
    case 'template.approved':
      log.info(about, 'WhatsApp approved a template')
      break
    case 'template.rejected':
      log.warn({ ...about, reason: data.reason }, 'WhatsApp rejected a template')
      break
    case 'template.paused':
      log.warn({ ...about, status: data.status }, 'WhatsApp stopped a template for low quality')
      break
    case 'template.category_changed':
      log.warn(
        { ...about, category: data.category, previousCategory: data.previousCategory },
        'WhatsApp changed the category of a template',
      )
      break
  }
}
