import { sql, type Kysely } from 'kysely'
import type { Database } from '../db/schema.ts'

/** One statement, so that of many tries at once each is counted. The count begins anew when its time is over. */
export async function countTry(
  db: Kysely<Database>,
  { key, seconds }: { key: Uint8Array; seconds: number },
): Promise<{ count: number; secondsLeft: number }> {
  const { rows } = await sql<{ count: number; secondsLeft: number }>`
    insert into owner_tries as known (key, count, ends_at)
    values (${key}, 1, now() + make_interval(secs => ${seconds}))
    on conflict (key) do update set
      count = case when known.ends_at < now() then 1 else known.count + 1 end,
      ends_at = case when known.ends_at < now() then excluded.ends_at else known.ends_at end
    returning count, extract(epoch from ends_at - now())::float8 as "secondsLeft"`.execute(db)
  // An upsert without a condition returns its row.
  return rows[0] ?? { count: 1, secondsLeft: seconds }
}

/**
 * The same for requests of one address to one path, in better-auth's own table; its own storage lets requests that
 * come at once pass together.
 */
export async function countRequest(
  db: Kysely<Database>,
  { key, seconds }: { key: string; seconds: number },
): Promise<{ count: number; secondsLeft: number }> {
  const { rows } = await sql<{ count: number; secondsLeft: number }>`
    insert into owner_sign_in_rates as known (id, key, count, "lastRequest")
    values (${key}, ${key}, 1, 1000 * extract(epoch from now()))
    on conflict (key) do update set
      count = case when known."lastRequest" + ${1000 * seconds} < excluded."lastRequest" then 1 else known.count + 1 end,
      "lastRequest" = case when known."lastRequest" + ${1000 * seconds} < excluded."lastRequest"
        then excluded."lastRequest" else known."lastRequest" end
    returning count, ("lastRequest" / 1000 + ${seconds} - extract(epoch from now()))::float8 as "secondsLeft"`.execute(
    db,
  )
  // An upsert without a condition returns its row.
  return rows[0] ?? { count: 1, secondsLeft: seconds }
}

/** Times end as much earlier as the clock was set back; not those that may have begun since. Of all persons. */
export async function shiftTries(db: Kysely<Database>, seconds: number): Promise<void> {
  await sql`
    update owner_tries set ends_at = ends_at - make_interval(secs => ${seconds})
    where ends_at > now() + interval '2 minutes'`.execute(db)
  await sql`
    update owner_sign_in_rates set "lastRequest" = "lastRequest" - 1000 * ${seconds}::float8
    where "lastRequest" > 1000 * extract(epoch from now() + interval '2 minutes')`.execute(db)
}
