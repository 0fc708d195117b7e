import { type Kysely, sql } from 'kysely'

/**
 * Adds the category that WhatsApp has announced for a template. Written by callbacks and syncs; null: it keeps its
 * category. The index covers the templates whose announcement, or its end, was not reported yet.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table templates
      add column upcoming_category text,
      -- Null if WhatsApp did not say it: only callbacks name the time.
      add column category_changes_at timestamptz,
      -- When a callback announced it. The list of templates can lag behind.
      add column upcoming_reported_at timestamptz,
      -- The category that webhooks and alerts last reported as upcoming; null: none.
      add column announced_upcoming text,
      -- What the template cost in the last 30 days, and would have cost, when it was reported.
      add column upcoming_cost jsonb`.execute(db)
  await sql`
    create index templates_upcoming on templates (account_id)
    where announced_upcoming is distinct from upcoming_category`.execute(db)
  await sql`
    alter table whatsapp_account_health
      -- Of the WABA, for the finding.
      add column upcoming_categories jsonb not null default '[]'`.execute(db)
}
