import { type Kysely, sql } from 'kysely'
import { callingCodes } from './0024-calling-codes.ts'

/**
 * Stores the pricing that statuses report and counts delivered messages by it. The trigger and the rows of migration
 * 0024 are extended, so a status writes no additional row. Adds the rate cards that operators import.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ since: string }>`
    select case when at = '-infinity' then '-infinity' else to_char(at, 'YYYY-MM-DD HH24:MI:SSOF') end as since
    from message_counts_start`.execute(db)
  const statements = [
    // Such as `utility`, or `utility/free_entry_point` if WhatsApp charges nothing; null: no status reported it.
    `alter table messages add column pricing text collate "C"`,
    `alter table message_count_deltas ${addPricing}`,
    `alter table message_count_buckets drop constraint message_count_buckets_pkey, ${addPricing},
      add primary key (${key})`,
    `alter table message_counts drop constraint message_counts_pkey, ${addPricing},
      add primary key (${dayKey})`,
    noteChanges(rows[0]?.since ?? '-infinity'),
    `create table rate_cards (
      valid_from date primary key,
      currency text collate "C" not null,
      imported_at timestamptz not null default now()
    )`,
    `create table rates (
      valid_from date not null references rate_cards on delete cascade,
      -- ISO 3166; '*': all countries without a rate of their own.
      country text collate "C" not null,
      category text collate "C" not null,
      market text not null,
      -- Millionths of the currency.
      micros bigint not null check (micros >= 0),
      primary key (valid_from, country, category)
    )`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const addPricing = `add column pricing text collate "C" not null default ''`

const counted = `status, accepted, error_code, delivery_seconds, whatsapp_account_id, template_name, country, pricing`
const key = `account_id, start, ${counted}`
const dayKey = `account_id, day, ${counted}`

/** Like in migration 0024, and also by the pricing of delivered messages, because WhatsApp charges on delivery. */
function noteChanges(since: string): string {
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
      group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
      having sum(change) <> 0;
      return null;
    end $$`
}

const columns = `account_id, created_at, status, wa_message_id, error_code, sent_at, delivered_at, whatsapp_account_id,
          template_name, to_number, pricing`

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
        case when ${isOld} then '' else coalesce(${lookUps}, '') end,
        case when status in ('delivered', 'read') then coalesce(pricing, '') else '' end`
}

/** The longest calling code that the number starts with. */
const lookUps = [4, 3, 2, 1]
  .map((length) => `'${JSON.stringify(callingCodes)}'::jsonb ->> left(to_number, ${length})`)
  .join(', ')
