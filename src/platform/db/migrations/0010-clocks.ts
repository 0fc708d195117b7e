import { type Kysely, sql } from 'kysely'

/**
 * What must not depend on the clock of the database going forward. Ids of events sort by time, and a reader goes on
 * from the last one it saw: so each account keeps the time of its last id, and the next id is later whatever the
 * clock shows. Whoever records events locks that row until the commit, so ids become visible in their order.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    // Changed with each batch of events: a new row finds room beside the one before.
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
    // One row: the latest time that any process has seen.
    `create table database_clock (
      only_one boolean primary key default true check (only_one),
      highest timestamptz not null
    ) with (fillfactor = 50)`,
    `insert into database_clock (highest) values (clock_timestamp())`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}

/** The 48 bits of the time are the first ten letters behind the prefix; two zero bits come before them (ids.ts). */
function timeOfId(id: string): string {
  const digits = Array.from(
    { length: 10 },
    (_, index) =>
      `((strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(${id}, ${index + 5}, 1)) - 1)::bigint << ${5 * (9 - index)})`,
  )
  return digits.join(' + ')
}
