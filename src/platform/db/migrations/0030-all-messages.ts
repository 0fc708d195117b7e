import { type Kysely, sql } from 'kysely'

/** Adds recipients for whom messages of all categories are suppressed. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `alter table suppressions add column all_messages boolean not null default false`,
    // Lets a send check in one lookup whether the account has such recipients.
    `create index suppressions_all_messages on suppressions (account_id) where suppressed and all_messages`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
