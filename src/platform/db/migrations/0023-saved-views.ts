import { type Kysely, sql } from 'kysely'

/** Adds saved views of the message log. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table saved_views (
      account_id text collate "C" not null,
      owner_id text not null,
      name text collate "C" not null,
      -- JSON, as the contract describes it.
      filters text not null,
      created_at timestamptz not null default now(),
      primary key (account_id, owner_id, name),
      -- The views of a person end with the membership.
      foreign key (account_id, owner_id) references owner_roles on delete cascade
    )`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
