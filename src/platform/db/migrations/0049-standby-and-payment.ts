import { type Kysely, sql } from 'kysely'

/**
 * Adds when WhatsApp last reported a conversation that another app answers, written by callbacks, and whether a business
 * account has a payment method, written by checks. Null: never, or not known. The version before reads neither.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table whatsapp_account_health
      add column last_standby_at timestamptz,
      add column has_payment_method boolean`.execute(db)
}
