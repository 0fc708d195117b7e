import { type Kysely, sql } from 'kysely'

/**
 * Adds the names under which WhatsApp knows a recipient: spellings of the number, and user IDs. Written by callbacks and
 * sends; deleted by housekeeping and erasure. Each row leads from a name to the person, so that a decision under one name
 * covers the others.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table recipient_identities (
      account_id text collate "C" not null references accounts on delete cascade,
      -- A number in the form in which numbers are compared, or a user ID.
      identity text collate "C" not null,
      -- The identity that stands for the person, as in suppressions.number_key: that of a number if one is known.
      person text collate "C" not null,
      -- A number as its sender wrote it; null for a user ID.
      number text collate "C",
      -- The WhatsApp Business Account that reported a user ID, which belongs to one portfolio.
      waba_id text collate "C",
      seen_at timestamptz not null,
      primary key (account_id, identity)
    )`.execute(db)
  await sql`create index recipient_identities_person on recipient_identities (account_id, person)`.execute(db)
  await sql`create index recipient_identities_seen_at on recipient_identities (seen_at)`.execute(db)
}
