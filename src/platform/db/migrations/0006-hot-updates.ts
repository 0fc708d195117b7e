import { type Kysely, sql } from 'kysely'

/**
 * A message changes its status three times. These updates must not touch an index, so that PostgreSQL writes the new
 * row version beside the old one (a heap-only update) and nothing else. Lookups by a column that changes therefore use
 * other means: `wa_message_ids` finds a message by its wamid, and `overdue_messages` lists messages that were still
 * pending a minute after they were recorded.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    // Time by the database clock, because the clock of a node may be wrong.
    `alter table messages add column recorded_at timestamptz not null default now()`,
    `create index messages_recorded_at on messages (recorded_at)`,
    `create table overdue_messages (
      account_id text collate "C" not null,
      id text collate "C" not null,
      primary key (account_id, id)
    )`,
    `create table overdue_progress (
      only_one boolean primary key default true check (only_one),
      looked_until timestamptz not null
    )`,
    // Existing messages get the time of this migration.
    `insert into overdue_messages select account_id, id from messages where status = 'pending'`,
    `insert into overdue_progress (looked_until) values (now())`,
    `drop index messages_pending`,
    // Stores a hash, because a wamid is long and random: the index is a quarter of the size.
    `create table wa_message_ids (
      hash bigint not null,
      account_id text collate "C" not null,
      message_id text collate "C" not null
    ) partition by range (message_id)`,
    `create table wa_message_ids_rest partition of wa_message_ids default`,
    `insert into wa_message_ids
      select hashtextextended(wa_message_id, 0), account_id, id from messages where wa_message_id is not null`,
    `create index wa_message_ids_hash on wa_message_ids (hash)`,
    `drop index messages_wa_message_id`,
    // Leaves space beside each row for its next version. Later partitions are created with it (partitions.ts).
    `do $$
      declare partition regclass;
      begin
        for partition in select inhrelid from pg_inherits where inhparent = 'messages'::regclass loop
          execute format('alter table %s set (fillfactor = 50)', partition);
        end loop;
      end
    $$`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
