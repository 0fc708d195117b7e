import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { networkOf } from '../../accounts/ip-allow-list.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'

/** How often something may be tried for one person, from all addresses together. */
export interface AttemptLimit {
  of: string
  most: number
  seconds: number
}

/** NIST SP 800-63B, 3.2.2: no more than a hundred wrong ones, however many addresses they come from. */
export const passwordAttempts: AttemptLimit = { of: 'password', most: 100, seconds: 3600 }
/** Fewer from one address, so that it takes several to keep somebody out. `signInAttemptsPerAddress` is for all whom it tries. */
export const passwordAttemptsPerAddress: AttemptLimit = { of: 'password from one address', most: 30, seconds: 3600 }
/** Of one address, which may be a whole office, for all whom it tries. */
export const signInAttemptsPerAddress = { most: 10, seconds: 60 }
/** Three of a million codes are right at any time, so these are few. */
export const codeAttempts: AttemptLimit = { of: 'code', most: 20, seconds: 3600 }
/** Of entries in the audit log about locks: each address that is locked writes one, and addresses are cheap. */
export const lockEntryAttempts: AttemptLimit = { of: 'lock entry', most: 10, seconds: 3600 }
/** RFC 6238, 5.2: a code is good once. It is accepted for a step before and after its own. */
export const sameCodeAttempts: AttemptLimit = { of: 'same code', most: 1, seconds: 90 }

/** Why a try is not allowed. */
export interface Lock {
  secondsLeft: number
  /** Whether this very try is the first one too many. */
  begins: boolean
}

/**
 * Undefined when one more is allowed. It is counted before anything is checked, so of many at once no more pass.
 * Who is tried for need not exist, and right ones count too: so nobody learns from it what they do not know.
 */
export async function takeAttempt(
  { db }: Pick<Deps, 'db'>,
  { of, most, seconds }: AttemptLimit,
  who: string,
): Promise<Lock | undefined> {
  // Strangers choose what is stored here: it has one length, and is not what they typed.
  const key = createHash('sha256').update(`${of}:${who.toLowerCase()}`).digest()
  const { count, secondsLeft } = await countAttempt(db, { key, seconds })
  return toLock({ count, secondsLeft }, most)
}

/** As `takeAttempt`. */
export async function takePasswordAttempt(
  deps: Pick<Deps, 'db'>,
  { email, address }: { email: string; address: string },
) {
  return (
    (await takeAttempt(deps, passwordAttemptsPerAddress, `${email} ${networkOf(address)}`)) ??
    takeAttempt(deps, passwordAttempts, email)
  )
}

/** As `takeAttempt`, for requests of one address to one path; `key` is better-auth's. */
export async function takeRequest(
  { db }: Pick<Deps, 'db'>,
  { key, most, seconds }: { key: string; most: number; seconds: number },
): Promise<Lock | undefined> {
  return toLock(await countRequest(db, { key, seconds }), most)
}

function toLock({ count, secondsLeft }: { count: number; secondsLeft: number }, most: number): Lock | undefined {
  if (count <= most) return undefined
  return { secondsLeft: Math.max(1, Math.ceil(secondsLeft)), begins: count === most + 1 }
}

/** One statement, so that of many tries at once each is counted. The count begins anew when its time is over. */
export async function countAttempt(
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
export async function shiftAttempts(db: Kysely<Database>, seconds: number): Promise<void> {
  await sql`
    update owner_tries set ends_at = ends_at - make_interval(secs => ${seconds})
    where ends_at > now() + interval '2 minutes'`.execute(db)
  await sql`
    update owner_sign_in_rates set "lastRequest" = "lastRequest" - 1000 * ${seconds}::float8
    where "lastRequest" > 1000 * extract(epoch from now() + interval '2 minutes')`.execute(db)
}
