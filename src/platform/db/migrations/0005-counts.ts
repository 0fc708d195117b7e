import { type Kysely, sql } from 'kysely'

/**
 * Counts messages by state, account and day, for the dashboard. A trigger records, in the transaction that changes
 * messages, how many of them left a state and how many entered it: one row per state, however many messages a statement
 * changes. Rows are only added, so that transactions never wait for each other; housekeeping folds them into
 * `message_counts`.
 *
 * Messages that are `pending` are not counted, and every message starts as `pending`. So inserts need no trigger, and
 * moving rows between partitions or dropping partitions changes no count. An `update` has to name `messages`, not one
 * of its partitions.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table message_counts (
      ${state},
      count integer not null,
      primary key (account_id, day, status, accepted, error_code, delivery_seconds)
    ) with (fillfactor = 80)`,
    `create index message_counts_day on message_counts (day)`,
    `create table message_count_deltas (
      ${state},
      count integer not null
    )`,
    `create index message_count_deltas_account on message_count_deltas (account_id, day)`,
    `create function note_message_counts() returns trigger language plpgsql as $$
    begin
      insert into message_count_deltas
      select ${stateOfMessage}, sum(change)
      from (
        select ${columns}, 1 as change from after
        union all
        select ${columns}, -1 from before
      ) message
      where status <> 'pending'
      group by 1, 2, 3, 4, 5, 6
      having sum(change) <> 0;
      return null;
    end $$`,
    `create trigger messages_counts after update on messages
      referencing old table as before new table as after
      for each statement execute function note_message_counts()`,
    // Counts existing messages in one scan, which takes a few seconds for millions. The trigger has locked the table
    // against writes, so none is counted twice and none is missed.
    `insert into message_counts select ${stateOfMessage}, count(*) from messages where status <> 'pending' group by 1, 2, 3, 4, 5, 6`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const state = `account_id text collate "C" not null,
      -- Of created_at, in UTC.
      day date not null,
      status text collate "C" not null,
      -- By WhatsApp, whatever came after.
      accepted boolean not null,
      -- Empty: none.
      error_code text collate "C" not null,
      -- From sent to delivered, rounded down to one of the steps below; -1: not known.
      delivery_seconds integer not null`

const columns = `account_id, created_at, status, wa_message_id, error_code, sent_at, delivered_at`

const stateOfMessage = `account_id, (created_at at time zone 'UTC')::date, status, wa_message_id is not null, coalesce(error_code, ''),
        coalesce(
          ('{0,1,2,5,10,30,60,300,1800,3600,21600,86400}'::integer[])[1 + width_bucket(
            delivered_at - sent_at, '{1 s,2 s,5 s,10 s,30 s,1 min,5 min,30 min,1 h,6 h,1 day}'::interval[]
          )], -1
        )`
