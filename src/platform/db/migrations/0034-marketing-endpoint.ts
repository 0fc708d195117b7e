import { type Kysely, sql } from 'kysely'

/**
 * Adds what decides about the endpoint of marketing templates. Meta's values are written by the health check; null: not
 * read since the upgrade, so that everything is sent as before. The setting is written by users.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table whatsapp_accounts
      add column marketing_onboarding_status text,
      add column marketing_off_cloud_api boolean,
      add column marketing_setting text not null default 'automatic'`.execute(db)
}
