import { type Kysely, sql } from 'kysely'

/**
 * Adds template management: what was announced about each template, when an approved one was edited, and whether the API
 * key of an account may change templates. Existing keys may not.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    'alter table accounts add column template_changes_enabled boolean not null default false',
    // Null: never announced. Templates that exist at the upgrade, or at the first sync of an account, are not announced.
    'alter table templates add column announced_status text',
    'alter table templates add column announced_category text',
    `alter table templates add column edited_at timestamptz[] not null default '{}'`,
    'update templates set announced_status = status, announced_category = category',
    `create index templates_unannounced on templates (account_id)
      where announced_status is distinct from status or announced_category is distinct from category`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
