import { type Kysely, sql } from 'kysely'

/**
 * That a person took a WhatsApp account out of use, and that WhatsApp refuses it, are two facts, and neither undoes
 * the other: it is active when none of them holds. Before, the last one told counted, known by its words.
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
