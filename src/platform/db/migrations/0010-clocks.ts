import { type Kysely, sql } from 'kysely'

/**
 * Makes ordering independent of the database clock. Event IDs sort by time, and readers continue after the last ID they
 * saw. So each account stores the timestamp of its last ID, and the next ID is later, whatever the clock shows. A
 * transaction that records events locks that row until the commit, so IDs become visible in order.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    // Updated with each batch of events, so space is left for the new row version beside the old one.
    `create table event_clocks (
      account_id text collate "C" primary key,
      -- The time in the last id, which may be ahead of the clock.
      last_milliseconds bigint not null,
      -- The furthest that an id was ever ahead of the clock.
      ahead_milliseconds bigint not null default 0
    ) with (fillfactor = 50)`,
    `insert into event_clocks (account_id, last_milliseconds)
      select accounts.id, ${timeOfId('last.id')}
      from accounts
      cross join lateral (select id from events where account_id = accounts.id order by id desc limit 1) last`,
    // A single row: the latest time that any process has recorded.
    `create table database_clock (
      only_one boolean primary key default true check (only_one),
      highest timestamptz not null
    ) with (fillfactor = 50)`,
    `insert into database_clock (highest) values (clock_timestamp())`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}

/** The 48-bit timestamp is in the first ten characters after the prefix, preceded by two zero bits (ids.ts). */
function timeOfId(id: string): string {
  const digits = Array.from(
    { length: 10 },
    (_, index) =>
      `((strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(${id}, ${index + 5}, 1)) - 1)::bigint << ${5 * (9 - index)})`,
  )
  return digits.join(' + ')
}
