import { type Kysely, sql } from 'kysely'
import { callingCodes } from '../countries.ts'
import type { Database } from './schema.ts'

/**
 * Keeps the trigger function of `messages` as this version defines it. Calling codes change between versions and are data,
 * so they need no migration. Safe to repeat: replacing a function locks no table.
 */
export async function updateMessageCounts(db: Kysely<Database>): Promise<void> {
  const { rows } = await sql<{ since: string; source: string }>`
    select case when at = '-infinity' then '-infinity' else to_char(at, 'YYYY-MM-DD HH24:MI:SSOF') end as since, (
      select prosrc from pg_proc where proname = 'note_message_counts' and pronamespace = current_schema()::regnamespace
    ) as source
    from message_counts_start`.execute(db)
  // A database into which `waybill move` copies has no row yet.
  const [row] = rows
  if (!row || row.source === bodyOf(row.since)) return
  await sql.raw(defineMessageCounts(row.since)).execute(db)
}

const counted = `account_id, start, status, accepted, error_code, delivery_seconds, whatsapp_account_id, template_name, country, pricing`

/** Defines the trigger function. Messages created before `since` are counted by UTC day, without a breakdown. */
export function defineMessageCounts(since: string): string {
  return `create or replace function note_message_counts() returns trigger language plpgsql as $$${bodyOf(since)}$$`
}

function bodyOf(since: string): string {
  return `
    begin
      insert into message_count_deltas (${counted}, count)
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
    end `
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

/** The country of the longest calling code that the number starts with, or that a user ID starts with. */
const lookUps = [
  ...[4, 3, 2, 1].map((length) => `'${JSON.stringify(callingCodes)}'::jsonb ->> left(to_number, ${length})`),
  `substring(to_number from '^([A-Z]{2})[.]')`,
].join(', ')
