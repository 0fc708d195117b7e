import { type Kysely, sql } from 'kysely'

/**
 * Adds the messages of the last hour of each WhatsApp account, measured every minute, and what was announced about its
 * quality and about each webhook endpoint, so that each change is announced once.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `alter table whatsapp_account_health
      add column traffic jsonb,
      add column next_traffic_at timestamptz not null default now(),
      add column announced_quality text`,
    `update whatsapp_account_health h set announced_quality = w.quality_rating
      from whatsapp_accounts w where w.id = h.whatsapp_account_id`,
    `alter table webhook_endpoints add column announced_failing boolean not null default false`,
    // Endpoints that already fail at the upgrade are not announced.
    `update webhook_endpoints set announced_failing = true where failing_since is not null or not enabled`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
