import { type Kysely, sql } from 'kysely'

/**
 * Separates two reasons for an inactive WhatsApp account: a user deactivated it, or WhatsApp rejects it. Neither
 * overwrites the other, and the account is active if neither holds. Before, only the latest reason was stored, and it
 * was identified by its text.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `alter table whatsapp_accounts add column switched_off boolean not null default false`,
    `update whatsapp_accounts set switched_off = true, inactive_reason = null
      where not active and inactive_reason = 'switched off by its owner'`,
    `update whatsapp_accounts set inactive_reason = 'the reason was not kept'
      where not active and not switched_off and inactive_reason is null`,
    `update whatsapp_accounts set inactive_reason = null where active`,
    `alter table whatsapp_accounts drop column active`,
    `alter table whatsapp_accounts add column active boolean not null
      generated always as (not switched_off and inactive_reason is null) stored`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
