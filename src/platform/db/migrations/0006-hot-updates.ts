import { type Kysely, sql } from 'kysely'

/**
 * A message changes its status three times, and none of that shall touch an index: PostgreSQL then writes the new
 * row beside the old one (a heap-only update), and nothing else. So what was found by an index over a column that
 * changes is found by other means: a message by its wamid through `wa_message_ids`, and those that are pending for
 * long by a look at each message once, when it is a minute old (overdue-store.ts).
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    // By the database's clock: that of a node may be off.
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
    // Those that are there already have this very moment as their time.
    `insert into overdue_messages select account_id, id from messages where status = 'pending'`,
    `insert into overdue_progress (looked_until) values (now())`,
    `drop index messages_pending`,
    // A hash, since a wamid is long, and random: the index is a quarter as large.
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
    // Room beside each row for the next one. Partitions to come have it from the start (partitions.ts).
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
