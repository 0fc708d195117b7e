import { type Kysely, sql } from 'kysely'

/**
 * Templates that are made here: what was announced of each one, when an approved one was edited, and whether the API key
 * of an account may change templates. Keys that exist may not.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    'alter table accounts add column template_changes_enabled boolean not null default false',
    // A null was never announced: what an account has before the upgrade, or at its first sync, is no news.
    'alter table templates add column announced_status text',
    'alter table templates add column announced_category text',
    `alter table templates add column edited_at timestamptz[] not null default '{}'`,
    'update templates set announced_status = status, announced_category = category',
    `create index templates_unannounced on templates (account_id)
      where announced_status is distinct from status or announced_category is distinct from category`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
