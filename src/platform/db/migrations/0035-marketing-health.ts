import { type Kysely, sql } from 'kysely'

/** Adds facts of the health check. Null: not read since the upgrade, which means no finding. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table whatsapp_account_health
      add column marketing_checked_at timestamptz,
      add column has_marketing_templates boolean`.execute(db)
}
