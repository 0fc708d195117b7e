import type { Kysely } from 'kysely'
import { arraysOf, type Columns, type Lists, listsOf, namesOf } from '../platform/db/columns.ts'
import type { Database } from '../platform/db/schema.ts'
import { unnamedStatement } from '../platform/db/statement.ts'
import type { TemplateUpdate } from '../whatsapp/callbacks/read-callback.ts'

/** What updates of a template change; absent values stay as they are. */
export interface TemplatePatch {
  wabaId: string
  name: string
  language: string
  status?: string
  /** Changes with the status. */
  rejectedReason?: string | null
  qualityScore?: string
  category?: string
  /** The category that WhatsApp announced; empty if an announcement ended. */
  upcomingCategory?: string
  categoryChangesAt?: Date | null
}

export function toTemplatePatch({ wabaId, name, language, change }: TemplateUpdate): TemplatePatch {
  const key = { wabaId, name, language }
  if (change === 'resync') return key
  if ('quality' in change) return { ...key, qualityScore: change.quality }
  if ('category' in change) return { ...key, category: change.category, ...ended }
  if ('announcedCategory' in change) {
    const { announcedCategory, currentCategory, takesEffectAt = null } = change
    if (announcedCategory === currentCategory) return { ...key, ...ended }
    return { ...key, upcomingCategory: announcedCategory, categoryChangesAt: takesEffectAt }
  }
  const { status } = change
  // Every other status ends an earlier rejection.
  const rejectedReason = status === 'REJECTED' ? (change.reason ?? null) : null
  return { ...key, status, rejectedReason, ...((status === 'REJECTED' || status === 'DELETED') && ended) }
}

/** The change was completed or withdrawn, or its template is gone. */
const ended = { upcomingCategory: '', categoryChangesAt: null }

export interface ReportedTemplatePatch {
  accountId: string
  template: TemplatePatch
}

interface ChangedTemplate extends Required<TemplatePatch> {
  accountId: string
}

type ChangeRow = { [Field in keyof ChangedTemplate]: ChangedTemplate[Field] | null }

const columns: Columns<ChangeRow> = {
  accountId: { name: 'account_id', type: 'word' },
  wabaId: { name: 'waba_id', type: 'text' },
  name: { name: 'name', type: 'text' },
  language: { name: 'language', type: 'text' },
  status: { name: 'status', type: 'text' },
  rejectedReason: { name: 'rejected_reason', type: 'text' },
  qualityScore: { name: 'quality_score', type: 'text' },
  category: { name: 'category', type: 'text' },
  upcomingCategory: { name: 'upcoming_category', type: 'text' },
  categoryChangesAt: { name: 'category_changes_at', type: 'timestamptz' },
}

/** Rows are locked in order, so that concurrent batches cannot deadlock. */
const changeAll = unnamedStatement<Lists<ChangeRow>>(
  ($) => `with change as (
    select * from unnest(${arraysOf($, columns)}) as c (${namesOf(columns)})
  ), locked as (
    select c.* from templates t
    join change c on (c.account_id, c.waba_id, c.name, c.language) = (t.account_id, t.waba_id, t.name, t.language)
    order by t.account_id, t.waba_id, t.name, t.language
    for update of t
  )
  update templates t set
    status = coalesce(c.status, t.status),
    rejected_reason = case when c.status is null then t.rejected_reason else c.rejected_reason end,
    quality_score = coalesce(c.quality_score, t.quality_score),
    category = coalesce(c.category, t.category),
    upcoming_category = case when c.upcoming_category is null then t.upcoming_category
      else nullif(nullif(c.upcoming_category, ''), coalesce(c.category, t.category)) end,
    category_changes_at = case when c.upcoming_category is null then t.category_changes_at
      else coalesce(
        c.category_changes_at, case when t.upcoming_category = c.upcoming_category then t.category_changes_at end
      ) end,
    upcoming_reported_at = case when c.upcoming_category is null then t.upcoming_reported_at
      when c.upcoming_category <> '' then now() end
  from locked c
  where (c.account_id, c.waba_id, c.name, c.language) = (t.account_id, t.waba_id, t.name, t.language)`,
)

/**
 * Applies reported changes immediately, so that a paused template is not sent. Events are not authoritative, the list is
 * (reference, section 8), so a sync must follow. Each template may occur once.
 */
export async function changeTemplates(db: Kysely<Database>, reported: readonly ReportedTemplatePatch[]): Promise<void> {
  const rows = reported
    .filter(({ template: { status, qualityScore, category, upcomingCategory } }) =>
      [status, qualityScore, category, upcomingCategory].some((value) => value !== undefined),
    )
    .map(({ accountId, template }) => ({
      accountId,
      wabaId: template.wabaId,
      name: template.name,
      language: template.language,
      status: template.status ?? null,
      rejectedReason: template.rejectedReason ?? null,
      qualityScore: template.qualityScore ?? null,
      category: template.category ?? null,
      upcomingCategory: template.upcomingCategory ?? null,
      categoryChangesAt: template.categoryChangesAt ?? null,
    }))
  if (rows.length > 0) await changeAll(db, listsOf(columns, rows))
}
