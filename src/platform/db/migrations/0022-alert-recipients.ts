import { type Kysely, sql } from 'kysely'

/** Lets members choose whether they get alerts by e-mail, and records since when findings about accounts hold. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `alter table owner_roles add column alert_emails boolean not null default true`,
    `alter table whatsapp_account_health
      -- Null while it is active.
      add column inactive_since timestamptz,
      -- Codes of the announced findings with their times.
      add column findings_since jsonb not null default '{}'`,
    `update whatsapp_account_health h set inactive_since = (
      select max(a.opened_at) from alerts a
      where a.account_id = h.account_id and a.subject_id = h.whatsapp_account_id
        and a.code = 'whatsapp_account_inactive' and a.recovered_at is null
    ) where not h.announced_active`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
