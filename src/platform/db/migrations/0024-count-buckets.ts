import { type Kysely, sql } from 'kysely'
import { callingCodes } from './0024-calling-codes.ts'

/**
 * Counts messages in buckets of 15 minutes, with the template, the WhatsApp account and the country of the recipient.
 * As before, a trigger records in `message_count_deltas` how many messages left a state and how many entered it, and
 * housekeeping folds these rows: recent ones into `message_count_buckets`, older ones into the days of `message_counts`.
 *
 * Messages of earlier versions stay in UTC days without template, number and country. Changes of these messages
 * are counted there too, so that both parts of a change meet in the same row.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const since = await findStart(db)
  const statements = [
    `alter table accounts add column time_zone text not null default 'UTC'`,
    // Messages recorded before have no template, number and country in their counts.
    `create table message_counts_start (at timestamptz not null)`,
    `insert into message_counts_start values ('${since}')`,
    `alter table message_counts drop constraint message_counts_pkey, ${addBreakdown}`,
    `insert into message_counts as c (${earlierKey}, count)
      select ${earlierKey}, sum(count) from message_count_deltas group by ${earlierKey} having sum(count) <> 0
      on conflict (${earlierKey}, whatsapp_account_id, template_name, country) do update set count = c.count + excluded.count`,
    `drop table message_count_deltas`,
    `create table message_count_deltas (${state}, count integer not null)`,
    `create index message_count_deltas_account on message_count_deltas (account_id, start)`,
    `create table message_count_buckets (
      ${state},
      count integer not null,
      primary key (${key})
    ) with (fillfactor = 80)`,
    `create index message_count_buckets_start on message_count_buckets (start)`,
    // The templates that are counted by name, at most 500 of an account. Others are counted without a name.
    `create table message_count_templates (
      account_id text collate "C" not null,
      template_name text collate "C" not null,
      primary key (account_id, template_name)
    )`,
    noteChanges(since),
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}

/** An empty database counts all messages in buckets; any other starts with the next quarter of an hour. */
async function findStart(db: Kysely<unknown>): Promise<string> {
  // Locks out all changes of messages, so that none is counted during the migration.
  await sql`lock table messages in share row exclusive mode`.execute(db)
  const { rows } = await sql<{ start: string }>`
    select case when exists (select from messages) or exists (select from message_counts)
      then to_char(
        date_bin('15 minutes', now(), 'epoch') + interval '15 minutes', 'YYYY-MM-DD HH24:MI:SSOF'
      ) else '-infinity' end as start`.execute(db)
  return rows[0]?.start ?? '-infinity'
}

const earlierKey = 'account_id, day, status, accepted, error_code, delivery_seconds'

const breakdown = `whatsapp_account_id text collate "C" not null default '',
      template_name text collate "C" not null default '',
      -- ISO 3166, of the recipient's calling code; empty: not known, or erased.
      country text collate "C" not null default ''`

const addBreakdown = `
      add column whatsapp_account_id text collate "C" not null default '',
      add column template_name text collate "C" not null default '',
      add column country text collate "C" not null default '',
      add primary key (${earlierKey}, whatsapp_account_id, template_name, country)`

const key = `account_id, start, status, accepted, error_code, delivery_seconds, whatsapp_account_id, template_name, country`

const state = `account_id text collate "C" not null,
      -- The quarter of an hour of created_at; of messages of earlier versions, their UTC day.
      start timestamptz not null,
      status text collate "C" not null,
      accepted boolean not null,
      error_code text collate "C" not null,
      delivery_seconds integer not null,
      ${breakdown}`

/** Defines the trigger's function. */
export function noteChanges(since: string): string {
  return `create or replace function note_message_counts() returns trigger language plpgsql as $$
    begin
      insert into message_count_deltas (${key}, count)
      select ${stateOfMessage(since)}, sum(change)
      from (
        select ${columns}, 1 as change from after
        union all
        select ${columns}, -1 from before
      ) message
      where status <> 'pending'
      group by 1, 2, 3, 4, 5, 6, 7, 8, 9
      having sum(change) <> 0;
      return null;
    end $$`
}

const columns = `account_id, created_at, status, wa_message_id, error_code, sent_at, delivered_at, whatsapp_account_id,
          template_name, to_number`

function stateOfMessage(since: string): string {
  const isOld = `created_at < '${since}'::timestamptz`
  return `account_id,
        case when ${isOld} then date_trunc('day', created_at, 'UTC') else date_bin('15 minutes', created_at, 'epoch') end,
        status, wa_message_id is not null, coalesce(error_code, ''),
        coalesce(
          ('{0,1,2,5,10,30,60,300,1800,3600,21600,86400}'::integer[])[1 + width_bucket(
            delivered_at - sent_at, '{1 s,2 s,5 s,10 s,30 s,1 min,5 min,30 min,1 h,6 h,1 day}'::interval[]
          )], -1
        ),
        case when ${isOld} then '' else whatsapp_account_id end,
        case when ${isOld} then '' else template_name end,
        case when ${isOld} then '' else coalesce(${lookUps}, '') end`
}

/** The longest calling code that the number starts with. */
const lookUps = [4, 3, 2, 1]
  .map((length) => `'${JSON.stringify(callingCodes)}'::jsonb ->> left(to_number, ${length})`)
  .join(', ')
