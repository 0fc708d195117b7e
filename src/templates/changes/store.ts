import { type Kysely, sql } from 'kysely'
import type { Database } from '../../platform/db/schema.ts'
import type { ListedTemplate } from '../../whatsapp/template-management.ts'
import { findTemplate, templateColumns, type TemplateKey, type TemplateRow } from '../store.ts'

/** Statuses of templates that WhatsApp no longer has. */
const goneStatuses: readonly string[] = ['DELETED', 'PENDING_DELETION']

export async function findPresentTemplate(db: Kysely<Database>, key: TemplateKey): Promise<TemplateRow | undefined> {
  const row = await findTemplate(db, key)
  return row && !goneStatuses.includes(row.status) ? row : undefined
}

/** Returns the languages of a template that WhatsApp still has. */
export function findPresentLanguages(
  db: Kysely<Database>,
  { accountId, wabaId, name }: Omit<TemplateKey, 'language'>,
): Promise<TemplateRow[]> {
  return db
    .selectFrom('templates')
    .select(templateColumns)
    .where((eb) => eb.and({ account_id: accountId, waba_id: wabaId, name }))
    .where('status', 'not in', [...goneStatuses])
    .orderBy('language')
    .execute()
}

export function findPresentTemplates(db: Kysely<Database>, accountId: string, wabaId: string): Promise<TemplateRow[]> {
  return db
    .selectFrom('templates')
    .select(templateColumns)
    .where('account_id', '=', accountId)
    .where('waba_id', '=', wabaId)
    .where('status', 'not in', [...goneStatuses])
    .orderBy('name')
    .orderBy('language')
    .execute()
}

/** Deleted ones count, because their rows are kept. */
export async function countTemplates(db: Kysely<Database>, accountId: string): Promise<number> {
  const { count } = await db
    .selectFrom('templates')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/**
 * Stores a template that was just submitted, so that it is listed immediately. Its review result counts as not yet
 * announced, even if WhatsApp approved it immediately.
 */
export async function storeSubmitted(
  db: Kysely<Database>,
  { accountId, wabaId }: { accountId: string; wabaId: string },
  { template, requestedCategory, at }: { template: ListedTemplate; requestedCategory: string; at: Date },
): Promise<void> {
  const row = {
    whatsapp_template_id: template.id,
    status: template.status,
    category: template.category ?? requestedCategory,
    parameter_format: template.parameterFormat,
    components: JSON.stringify(template.components),
    quality_score: template.qualityScore ?? null,
    rejected_reason: template.rejectedReason ?? null,
    announced_status: 'PENDING',
    announced_category: requestedCategory,
    synced_at: at,
  }
  await db
    .insertInto('templates')
    .values({ account_id: accountId, waba_id: wabaId, name: template.name, language: template.language, ...row })
    .onConflict((conflict) => conflict.columns(['account_id', 'waba_id', 'name', 'language']).doUpdateSet(row))
    .execute()
}

/** Adds the time of an edit, and removes those that no longer count. */
export async function recordEdit(db: Kysely<Database>, key: TemplateKey, at: Date): Promise<void> {
  await db
    .updateTable('templates')
    .set({
      edited_at: sql<Date[]>`array(
        select edit from unnest(edited_at || ${at}::timestamptz) as edit where edit > ${at}::timestamptz - interval '30 days'
      )`,
    })
    .where((eb) => eb.and({ account_id: key.accountId, waba_id: key.wabaId, name: key.name, language: key.language }))
    .execute()
}

/** The deletion is not announced, because a user requested it. */
export async function markTemplatesDeleted(
  db: Kysely<Database>,
  { accountId, wabaId, name }: Omit<TemplateKey, 'language'>,
  { languages, at }: { languages: readonly string[]; at: Date },
): Promise<void> {
  if (languages.length === 0) return
  await db
    .updateTable('templates')
    .set({ status: 'DELETED', announced_status: 'DELETED', upcoming_category: null, synced_at: at })
    .where((eb) => eb.and({ account_id: accountId, waba_id: wabaId, name }))
    .where('language', 'in', [...languages])
    .execute()
}
