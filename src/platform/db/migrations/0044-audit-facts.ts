import { type Kysely, sql } from 'kysely'

/**
 * Adds the fact behind the sentence of an audit log entry, as JSON text. It is hashed, so the entry says by which version
 * of the hash; the version before writes entries of version 1, which have no fact.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table audit_entries
      add column fact text,
      add column hash_version smallint not null default 1`.execute(db)
}
