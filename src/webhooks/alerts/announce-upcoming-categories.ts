import { type Kysely, sql } from 'kysely'
import type { z } from 'zod'
import type { TemplateCategoryChangingEvent } from '../../../contracts/events.ts'
import { alertFacts, timeOf } from '../../../contracts/facts/alerts.ts'
import type { Fact } from '../../../contracts/facts/fact.ts'
import type { CategoryCost } from '../../../contracts/pricing.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import { isRejectedInstead, refreshUpcomingCategories } from '../../whatsapp-accounts/health/upcoming-categories.ts'
import { recordEvents, toUnrecordedEvent } from '../events.ts'
import { type AlertChange, type ReportDeps, reportChanges } from './report.ts'
import { wakeSenders } from './send.ts'
import { reportedColumns, type ReportedTemplate } from './announce-templates.ts'

type AlertDeps = ReportDeps & Pick<Deps, 'db' | 'randomBytes' | 'notifications'>

/** What a template cost lately, and would have cost in another category. */
export type ReadCategoryCost = (
  db: Kysely<Database>,
  of: { accountId: string; template: string; category: string | null; newCategory: string },
  now: Date,
) => Promise<CategoryCost>

interface Row extends ReportedTemplate {
  upcomingCategory: string | null
  categoryChangesAt: Date | null
}

/** A template with the category that WhatsApp has announced. */
interface Announced {
  row: Row
  newCategory: string
  cost: CategoryCost
}

const maxRows = 50
const facts = alertFacts.category

/**
 * Reports categories that WhatsApp has announced for templates, each once across all nodes: in the log, as events, as
 * alerts and in the health of the WhatsApp accounts. The alert ends when the change is completed or withdrawn. Reads all
 * accounts. Returns the number of announcements.
 */
export async function announceUpcomingCategories(deps: AlertDeps, readCost: ReadCategoryCost): Promise<number> {
  const now = deps.now()
  const announced = await deps.db.transaction().execute(async (trx) => {
    const rows = await claimChanged(trx)
    const announced: Announced[] = []
    const changes: AlertChange[] = []
    for (const row of rows) {
      const known = await readAnnounced(trx, row, { readCost, now })
      if (known) announced.push(known)
      changes.push(known ? toRaised(known) : toRecovered(row))
      await markAnnounced(trx, row, known?.cost)
      await refreshUpcomingCategories(trx, row)
    }
    await reportChanges(deps, trx, changes)
    await recordEvents(
      deps,
      trx,
      announced.map((one) => toUnrecorded(one, now)),
    )
    return announced
  })
  // After the commit, so that the workers can already see the deliveries.
  if (announced.length > 0) {
    deps.notifications.notify('deliveries')
    wakeSenders(deps)
  }
  for (const { row, newCategory } of announced)
    deps.log.warn(
      { accountId: row.accountId, template: row.name, language: row.language, newCategory },
      'WhatsApp will change the category of a template',
    )
  return announced.length
}

/** Locks the templates, so that only one node reports each. A partial index covers exactly these rows. */
async function claimChanged(trx: Kysely<Database>): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select ${reportedColumns}, t.upcoming_category as "upcomingCategory", t.category_changes_at as "categoryChangesAt"
    from templates t
    where t.announced_upcoming is distinct from t.upcoming_category
    order by t.account_id, t.waba_id, t.name, t.language
    limit ${maxRows}
    for update of t skip locked`.execute(trx)
  return rows
}

async function readAnnounced(
  trx: Kysely<Database>,
  row: Row,
  { readCost, now }: { readCost: ReadCategoryCost; now: Date },
): Promise<Announced | undefined> {
  const { accountId, name: template, category, upcomingCategory: newCategory } = row
  if (newCategory === null) return undefined
  return { row, newCategory, cost: await readCost(trx, { accountId, template, category, newCategory }, now) }
}

async function markAnnounced(trx: Kysely<Database>, row: Row, cost: CategoryCost | undefined): Promise<void> {
  await trx
    .updateTable('templates')
    .set({ announced_upcoming: row.upcomingCategory, upcoming_cost: cost ? JSON.stringify(cost) : null })
    .where((eb) => eb.and({ account_id: row.accountId, waba_id: row.wabaId, name: row.name, language: row.language }))
    .execute()
}

function toUnrecorded({ row, newCategory, cost }: Announced, now: Date) {
  const event: z.infer<typeof TemplateCategoryChangingEvent> = {
    type: 'template.category_changing',
    timestamp: now.toISOString(),
    data: {
      template: row.name,
      language: row.language,
      templateId: row.templateId,
      accountIds: row.whatsAppAccountIds,
      status: row.status,
      ...(row.category !== null && { category: row.category }),
      newCategory,
      ...(row.categoryChangesAt && { takesEffectAt: row.categoryChangesAt.toISOString() }),
      cost,
    },
  }
  return toUnrecordedEvent({ accountId: row.accountId, id: row.templateId }, event)
}

function toRaised({ row, newCategory: category, cost }: Announced): AlertChange {
  const { categoryChangesAt: at } = row
  const isRejected = isRejectedInstead(category)
  return {
    ...about(row),
    kind: 'raised',
    title: isRejected ? facts.willReject(row) : facts.willChange(row),
    paragraphs: [
      isRejected ? facts.belongs({ category }) : facts.next({ category }),
      ...(at ? [facts.at({ time: timeOf(at) })] : []),
      ...(isRejected ? [] : [describeCost(cost)]),
      isRejected ? facts.createAgain() : facts.keep(),
    ],
  }
}

function describeCost({ messages, amount, newAmount, currency }: CategoryCost): Fact {
  return amount === undefined || newAmount === undefined || currency === undefined
    ? facts.messages({ messages })
    : facts.cost({ messages, amount, newAmount, currency })
}

function toRecovered(row: Row): AlertChange {
  const { category } = row
  const present = category === null ? facts.unknown() : facts.present({ category })
  return { ...about(row), kind: 'recovered', title: facts.over(row), paragraphs: [present] }
}

function about({ accountId, templateId: subjectId }: Row) {
  return { accountId, code: 'template_category_changing', subjectId, severity: 'warning' } as const
}
