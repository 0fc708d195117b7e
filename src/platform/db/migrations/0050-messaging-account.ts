import { type Kysely, sql } from 'kysely'

/** Adds whether sends name the messaging account that pays. The version before reads it nowhere, and names none. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table whatsapp_accounts
      -- 'omit', or 'send'
      add column messaging_account_setting text not null default 'omit'`.execute(db)
}
