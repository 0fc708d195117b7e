import { type Kysely, sql } from 'kysely'
import type { Database } from '../platform/db/schema.ts'
import type { ListedTemplate } from '../whatsapp/template-management.ts'

export interface Listing {
  accountId: string
  wabaId: string
  /** When the listing was requested, by the database clock: of two overlapping syncs, the later one wins. */
  listedAt: Date
  /** Each name and language occurs once. */
  templates: ListedTemplate[]
}

/** A time in the future was stored before a clock was set back, so it is older than every list. */
function untilNow(column: string) {
  return sql<Date>`case when ${sql.ref(column)} <= clock_timestamp() then ${sql.ref(column)} else '-infinity' end`
}

/** Stores listed templates and marks the others as deleted, unless a later list has been stored. */
export async function storeListing(db: Kysely<Database>, listing: Listing): Promise<void> {
  if (!(await recordSync(db, listing))) return
  await upsertTemplates(db, listing)
  await markDeleted(db, listing)
}

/**
 * Returns whether no later list has been stored. The times of templates cannot tell, because a template that is created
 * during a sync is newer than its list. The lock makes an overlapping sync wait.
 */
async function recordSync(db: Kysely<Database>, { accountId, wabaId, listedAt }: Listing): Promise<boolean> {
  const rows = await db
    .updateTable('whatsapp_accounts')
    .set({ templates_synced_at: sql<Date>`greatest(${untilNow('templates_synced_at')}, ${listedAt}::timestamptz)` })
    .where('account_id', '=', accountId)
    .where('waba_id', '=', wabaId)
    .returning('templates_synced_at as syncedAt')
    .execute()
  return rows.length > 0 && rows.every((row) => row.syncedAt?.getTime() === listedAt.getTime())
}

/**
 * One statement with one parameter for any number of templates, since a WABA can have thousands. The rows are ordered,
 * so that overlapping syncs cannot deadlock.
 */
async function upsertTemplates(
  db: Kysely<Database>,
  { accountId, wabaId, listedAt, templates }: Listing,
): Promise<void> {
  await sql`
    insert into templates (
      account_id, waba_id, name, language, whatsapp_template_id, status, category, parameter_format,
      components, quality_score, rejected_reason, announced_status, announced_category, upcoming_category, synced_at
    )
    select ${accountId}, ${wabaId}, name, language, id, status, category, "parameterFormat",
      components, "qualityScore", "rejectedReason", status, category, "announcedCategory", ${listedAt}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(templates)}::jsonb) as listed (
      id text, name text, language text, status text, category text, "parameterFormat" text,
      components jsonb, "qualityScore" text, "rejectedReason" text, "announcedCategory" text
    )
    order by name, language
    on conflict (account_id, waba_id, name, language) do update set
      whatsapp_template_id = excluded.whatsapp_template_id,
      status = excluded.status,
      category = excluded.category,
      parameter_format = excluded.parameter_format,
      components = excluded.components,
      quality_score = excluded.quality_score,
      rejected_reason = excluded.rejected_reason,
      upcoming_category = ${stillAnnounced('templates.upcoming_category', 'excluded.upcoming_category')},
      category_changes_at = ${stillAnnounced('templates.category_changes_at', 'null')},
      synced_at = excluded.synced_at
    where ${untilNow('templates.synced_at')} <= excluded.synced_at
  `.execute(db)
}

/** The list can lag behind a callback by as much. */
const trustedAfter = sql.raw(`interval '1 hour'`)

/**
 * An announcement is kept while the list repeats it, or if a callback has made it only now. The list names no time, so
 * that of the callback is kept.
 */
function stillAnnounced(known: string, otherwise: string) {
  return sql`case
        when templates.upcoming_category = excluded.upcoming_category then ${sql.raw(known)}
        when excluded.upcoming_category is null and excluded.category is not distinct from templates.category
          and templates.upcoming_reported_at > excluded.synced_at - ${trustedAfter} then ${sql.raw(known)}
        else ${sql.raw(otherwise)} end`
}

/** The upsert set `synced_at` of all listed templates, so an older time means that a template was not listed. */
async function markDeleted(db: Kysely<Database>, { accountId, wabaId, listedAt }: Listing): Promise<void> {
  await db
    .updateTable('templates')
    .set({ status: 'DELETED', upcoming_category: null, synced_at: listedAt })
    .where('account_id', '=', accountId)
    .where('waba_id', '=', wabaId)
    .where(untilNow('synced_at'), '<', listedAt)
    .where('status', '<>', 'DELETED')
    .execute()
}
