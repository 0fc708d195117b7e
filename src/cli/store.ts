import { type Kysely, sql } from 'kysely'
import type { Database } from '../platform/db/schema.ts'

/**
 * Reads all accounts: an operator names a message without saying whose it is. Asked account by
 * account, since messages are keyed by account first.
 */
export async function findMessageOwner(db: Kysely<Database>, messageId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('accounts')
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('messages')
          .select('messages.id')
          .whereRef('messages.account_id', '=', 'accounts.id')
          .where('messages.id', '=', messageId)
          .as('found'),
      (join) => join.onTrue(),
    )
    .select('accounts.id')
    .executeTakeFirst()
  return row?.id
}

/** Reads all accounts: each WABA that somebody sends from, with the number of its templates that can be sent. */
export async function countApprovedTemplates(
  db: Kysely<Database>,
): Promise<{ accountId: string; wabaId: string; approved: number }[]> {
  const rows = await db
    .selectFrom('whatsapp_accounts')
    .leftJoin('templates', (join) =>
      join
        .onRef('templates.account_id', '=', 'whatsapp_accounts.account_id')
        .onRef('templates.waba_id', '=', 'whatsapp_accounts.waba_id')
        .on('templates.status', '=', 'APPROVED'),
    )
    .groupBy(['whatsapp_accounts.account_id', 'whatsapp_accounts.waba_id'])
    .orderBy('whatsapp_accounts.account_id')
    .select(['whatsapp_accounts.account_id', 'whatsapp_accounts.waba_id'])
    .select(
      sql<string>`count(distinct (templates.name, templates.language)) filter (where templates.name is not null)`.as(
        'approved',
      ),
    )
    .execute()
  return rows.map((row) => ({ accountId: row.account_id, wabaId: row.waba_id, approved: Number(row.approved) }))
}

/** Such as 150004 for 15.4. */
export async function readServerVersion(db: Kysely<Database>): Promise<number> {
  const { rows } = await sql<{ version: string }>`select current_setting('server_version_num') as version`.execute(db)
  return Number(rows[0]?.version)
}
