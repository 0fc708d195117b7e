import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { networkOf } from '../../accounts/ip-allow-list.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'

/** How often something may be attempted in a period. */
export interface AttemptLimit {
  name: string
  max: number
  seconds: number
}

/** NIST SP 800-63B, 3.2.2: at most a hundred wrong passwords, from any number of addresses. */
export const passwordAttempts: AttemptLimit = { name: 'password', max: 100, seconds: 3600 }
/**
 * Lower than the limit per user, so that locking out a user takes several addresses. `signInAttemptsPerAddress` applies
 * to all users.
 */
export const passwordAttemptsPerAddress: AttemptLimit = { name: 'password from one address', max: 30, seconds: 3600 }
/** For one user in one session, in one browser or from one network where they have signed in before. */
const passwordAttemptsPerSource: AttemptLimit = { name: 'password from a known source', max: 30, seconds: 3600 }
/** Applies to all users of an address, which may be a whole office. */
export const signInAttemptsPerAddress = { max: 10, seconds: 60 }
/** Three of a million codes are valid at any time, so only a few attempts are allowed. */
export const codeAttempts: AttemptLimit = { name: 'code', max: 20, seconds: 3600 }
/** For one user in one browser or from one network where they have signed in before. */
const codeAttemptsPerSource: AttemptLimit = { name: 'code from a known source', max: 20, seconds: 3600 }
/** For one user from all of these together, because an attacker may be in several. */
const codeAttemptsOfSources: AttemptLimit = { name: 'code from known sources', max: 100, seconds: 3600 }
/** Limits audit log entries about lockouts: each locked address writes one, and addresses are cheap. */
export const lockoutEntryAttempts: AttemptLimit = { name: 'lock entry', max: 10, seconds: 3600 }
/** Limits audit log entries about changes that are rejected before the password or the code is checked. */
export const forbiddenEntryAttempts: AttemptLimit = { name: 'forbidden entry', max: 10, seconds: 3600 }
/** RFC 6238, 5.2: a code is valid once. Codes are accepted one time step early or late. */
export const sameCodeAttempts: AttemptLimit = { name: 'same code', max: 1, seconds: 90 }

/** Why an attempt is not allowed. */
export interface Lockout {
  secondsLeft: number
  /** True if this attempt is the first one that is not allowed. */
  isFirst: boolean
}

/**
 * Counts an attempt; returns undefined if it is allowed. It is counted before anything is checked, so concurrent
 * attempts cannot exceed the limit. Unknown users and correct attempts count too, so the result reveals nothing.
 */
export async function consumeAttempt(
  { db }: Pick<Deps, 'db'>,
  { name, max, seconds }: AttemptLimit,
  who: string,
): Promise<Lockout | undefined> {
  // The key is a hash, because unauthenticated callers choose the text and its length.
  const key = createHash('sha256').update(`${name}:${who.toLowerCase()}`).digest()
  const { count, secondsLeft } = await countAttempt(db, { key, seconds })
  return toLockout({ count, secondsLeft }, max)
}

/**
 * Like `consumeAttempt`, for passwords. `source` is where the user is known to be, such as a session or a known browser:
 * its attempts are counted separately, so that attempts of others cannot lock the user out there.
 */
export async function consumePasswordAttempt(
  deps: Pick<Deps, 'db'>,
  { email, address }: { email: string; address: string },
  source: string | undefined,
): Promise<Lockout | undefined> {
  if (source !== undefined) return consumeAttempt(deps, passwordAttemptsPerSource, `${email} ${source}`)
  return (
    (await consumeAttempt(deps, passwordAttemptsPerAddress, `${email} ${networkOf(address)}`)) ??
    consumeAttempt(deps, passwordAttempts, email)
  )
}

/** Like `consumeAttempt`, for codes, which only somebody who knows the password can use up. */
export async function consumeCodeAttempt(
  deps: Pick<Deps, 'db'>,
  email: string,
  source: string | undefined,
): Promise<Lockout | undefined> {
  if (source === undefined) return consumeAttempt(deps, codeAttempts, email)
  return (
    (await consumeAttempt(deps, codeAttemptsPerSource, `${email} ${source}`)) ??
    consumeAttempt(deps, codeAttemptsOfSources, email)
  )
}

/** Like `consumeAttempt`, for requests from one address to one path; `key` is created by better-auth. */
export async function consumeRequest(
  { db }: Pick<Deps, 'db'>,
  { key, max, seconds }: { key: string; max: number; seconds: number },
): Promise<Lockout | undefined> {
  return toLockout(await countRequest(db, { key, seconds }), max)
}

function toLockout({ count, secondsLeft }: { count: number; secondsLeft: number }, max: number): Lockout | undefined {
  if (count <= max) return undefined
  return { secondsLeft: Math.max(1, Math.ceil(secondsLeft)), isFirst: count === max + 1 }
}

/** A single statement, so that concurrent attempts are all counted. The count restarts when its period has ended. */
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
  // An upsert without a condition always returns its row.
  return rows[0] ?? { count: 1, secondsLeft: seconds }
}

/**
 * Counts requests from one address to one path in better-auth's table, because better-auth itself does not count
 * concurrent requests exactly. The ID is random: if it was the key, two first requests would conflict in the index of the
 * ID, which the statement does not handle.
 */
async function countRequest(
  db: Kysely<Database>,
  { key, seconds }: { key: string; seconds: number },
): Promise<{ count: number; secondsLeft: number }> {
  const { rows } = await sql<{ count: number; secondsLeft: number }>`
    insert into owner_sign_in_rates as known (id, key, count, "lastRequest")
    values (gen_random_uuid()::text, ${key}, 1, 1000 * extract(epoch from now()))
    on conflict (key) do update set
      count = case when known."lastRequest" + ${1000 * seconds} < excluded."lastRequest" then 1 else known.count + 1 end,
      "lastRequest" = case when known."lastRequest" + ${1000 * seconds} < excluded."lastRequest"
        then excluded."lastRequest" else known."lastRequest" end
    returning count, ("lastRequest" / 1000 + ${seconds} - extract(epoch from now()))::float8 as "secondsLeft"`.execute(
    db,
  )
  // An upsert without a condition always returns its row.
  return rows[0] ?? { count: 1, secondsLeft: seconds }
}

/**
 * Shifts end times back after the clock was set back, except those that may have started since. Applies to all users.
 */
export async function shiftAttempts(db: Kysely<Database>, seconds: number): Promise<void> {
  await sql`
    update owner_tries set ends_at = ends_at - make_interval(secs => ${seconds})
    where ends_at > now() + interval '2 minutes'`.execute(db)
  await sql`
    update owner_sign_in_rates set "lastRequest" = "lastRequest" - 1000 * ${seconds}::float8
    where "lastRequest" > 1000 * extract(epoch from now() + interval '2 minutes')`.execute(db)
}

/** Deletes expired sessions, links, codes and attempt counts, in all accounts. */
export async function deleteExpiredSignIns(db: Kysely<Database>, now: Date): Promise<void> {
  for (const table of ['owner_sessions', 'owner_verifications'] as const)
    await sql`delete from ${sql.table(table)} where "expiresAt" < ${now}`.execute(db)
  await db.deleteFrom('owner_invitations').where('expires_at', '<', now).execute()
  await db.deleteFrom('owner_tries').where('ends_at', '<', now).execute()
  await sql`
    delete from owner_sign_in_rates
    where "lastRequest" < 1000 * extract(epoch from ${now}::timestamptz - interval '1 day')`.execute(db)
}
