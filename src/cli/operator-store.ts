import { type Kysely, sql } from 'kysely'
import type { Database } from '../platform/db/schema.ts'

/**
 * Reads all accounts, because operators pass a message ID without its account. Each account is queried separately,
 * because messages are keyed by account first.
 */
export async function findAccountOfMessage(db: Kysely<Database>, messageId: string): Promise<string | undefined> {
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

/** Reads all accounts: each WABA in use, with the number of its approved templates. */
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
    .select(['whatsapp_accounts.account_id as accountId', 'whatsapp_accounts.waba_id as wabaId'])
    .select(
      sql<string>`count(distinct (templates.name, templates.language)) filter (where templates.name is not null)`.as(
        'approved',
      ),
    )
    .execute()
  return rows.map((row) => ({ ...row, approved: Number(row.approved) }))
}

/** Returns the TLS version of the connection to PostgreSQL, for example TLSv1.3; undefined without TLS. */
export async function readTlsVersion(db: Kysely<Database>): Promise<string | undefined> {
  const { rows } = await sql<{ version: string }>`
    select version from pg_stat_ssl where pid = pg_backend_pid() and ssl`.execute(db)
  return rows[0]?.version
}

/** PostgreSQL 14, in the form of `readServerVersion`. */
export const oldestServerVersion = 140_000

/** Returns the server version, for example 150004 for 15.4. */
export async function readServerVersion(db: Kysely<Database>): Promise<number> {
  const { rows } = await sql<{ version: string }>`select current_setting('server_version_num') as version`.execute(db)
  return Number(rows[0]?.version)
}
