import { type Kysely, sql } from 'kysely'

/**
 * Adds the business portfolio of a WhatsApp account, what WhatsApp reported about it, and how many people its portfolio
 * has addressed in 24 hours. The version before reads and writes none of it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Written by checks; null: not known yet.
  await sql`alter table whatsapp_accounts add column portfolio_id text`.execute(db)
  // Finds the accounts of a callback whose entry is a portfolio.
  await sql`create index whatsapp_accounts_portfolio on whatsapp_accounts (portfolio_id)`.execute(db)
  await sql`
    alter table whatsapp_account_health
      -- Restrictions, warnings and alerts of WhatsApp, the latest of each kind. Written by callbacks.
      add column notices jsonb not null default '[]',
      -- The notices that members were alerted about.
      add column announced_notices text[] not null default '{}',
      -- People addressed in the last 24 hours, of the whole portfolio. Written by a job.
      add column reach jsonb,
      add column next_reach_at timestamptz not null default now()`.execute(db)
}
