import { type Kysely, type Selection, sql } from 'kysely'
import { columnsOf } from '../platform/db/names.ts'
import type { Database } from '../platform/db/schema.ts'

export const templateColumns = [
  ...columnsOf('waba_id name language'),
  'whatsapp_template_id as templateId',
  ...columnsOf(
    'status category parameter_format components quality_score rejected_reason upcoming_category category_changes_at',
    'upcoming_cost edited_at synced_at',
  ),
] as const

export type TemplateRow = Selection<Database, 'templates', (typeof templateColumns)[number]>

/** Identifies a template (reference, section 3.1). */
export interface TemplateKey {
  accountId: string
  wabaId: string
  name: string
  language: string
}

/** Returns the WABA of the given WhatsApp account, or of the default one. */
export async function findWabaId(
  db: Kysely<Database>,
  accountId: string,
  whatsAppAccountId: string | undefined,
): Promise<string | undefined> {
  const accounts = db.selectFrom('whatsapp_accounts').select('waba_id as wabaId').where('account_id', '=', accountId)
  const row = await (
    whatsAppAccountId === undefined
      ? accounts.where('is_default', '=', true)
      : accounts.where('id', '=', whatsAppAccountId)
  ).executeTakeFirst()
  return row?.wabaId
}

export function findTemplate(db: Kysely<Database>, key: TemplateKey): Promise<TemplateRow | undefined> {
  return db
    .selectFrom('templates')
    .select(templateColumns)
    .where((eb) => eb.and({ account_id: key.accountId, waba_id: key.wabaId, name: key.name, language: key.language }))
    .executeTakeFirst()
}

/** Returns at most `limit` templates after `after`, ordered by name and language. */
export function findTemplates(
  db: Kysely<Database>,
  {
    accountId,
    wabaId,
    status,
    after,
    limit,
  }: {
    accountId: string
    wabaId: string
    status: string | undefined
    after: { name: string; language: string } | undefined
    limit: number
  },
): Promise<TemplateRow[]> {
  let query = db
    .selectFrom('templates')
    .select(templateColumns)
    .where('account_id', '=', accountId)
    .where('waba_id', '=', wabaId)
  if (status !== undefined) query = query.where('status', '=', status)
  if (after) query = query.where((eb) => eb(eb.refTuple('name', 'language'), '>', eb.tuple(after.name, after.language)))
  return query.orderBy('name').orderBy('language').limit(limit).execute()
}

/** Returns when the templates of a WABA were last read from WhatsApp; undefined if never. */
export async function findLastSync(db: Kysely<Database>, accountId: string, wabaId: string): Promise<Date | undefined> {
  const row = await db
    .selectFrom('whatsapp_accounts')
    .select((eb) => eb.fn.max('templates_synced_at').as('syncedAt'))
    .where('account_id', '=', accountId)
    .where('waba_id', '=', wabaId)
    .executeTakeFirst()
  return row?.syncedAt ?? undefined
}

export async function changeTemplate(
  db: Kysely<Database>,
  key: TemplateKey,
  change: { status: string },
): Promise<void> {
  await db
    .updateTable('templates')
    .set(change)
    .where((eb) => eb.and({ account_id: key.accountId, waba_id: key.wabaId, name: key.name, language: key.language }))
    .execute()
}

/** Reads all accounts, for the operator's gauges. */
export async function countTemplatesByStatus(db: Kysely<Database>): Promise<{ status: string; count: number }[]> {
  const { rows } = await sql<{ status: string; count: number }>`
    select status, count(*)::integer as count from templates group by status order by status`.execute(db)
  return rows
}
