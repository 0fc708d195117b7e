import { type Kysely, sql } from 'kysely'
import type { Database } from '../../platform/db/schema.ts'
import { toNumberKey } from '../suppressions/number-key.ts'

export interface CodeKey {
  accountId: string
  /** In any spelling. It is stored as its number key, so that a code can be checked with another spelling. */
  to: string
  purpose: string
}

export interface NewCode extends CodeKey {
  id: string
  mac: Uint8Array
  maxAttempts: number
  expiresInSeconds: number
}

/** Uses the clock of the database, which all nodes share. */
export async function insertCode(db: Kysely<Database>, code: NewCode): Promise<{ createdAt: Date; expiresAt: Date }> {
  const { created_at, expires_at } = await db
    .insertInto('one_time_codes')
    .values({
      account_id: code.accountId,
      id: code.id,
      to_number: toNumberKey(code.to),
      purpose: code.purpose,
      mac: code.mac,
      attempts_left: code.maxAttempts,
      expires_at: sql<Date>`now() + ${code.expiresInSeconds} * interval '1 second'`,
    })
    .returning(['created_at', 'expires_at'])
    .executeTakeFirstOrThrow()
  return { createdAt: created_at, expiresAt: expires_at }
}

export async function deleteCode(db: Kysely<Database>, accountId: string, id: string): Promise<void> {
  await db.deleteFrom('one_time_codes').where('account_id', '=', accountId).where('id', '=', id).execute()
}

export interface CodeAttempt {
  id: string
  mac: Uint8Array
  attemptsLeft: number
}

/**
 * Uses up one attempt at the latest code before the code is compared, so that concurrent guesses cannot share an
 * attempt. Returns undefined if the code cannot be checked.
 */
export async function takeAttempt(
  db: Kysely<Database>,
  { accountId, to, purpose }: CodeKey,
): Promise<CodeAttempt | undefined> {
  const { rows } = await sql<{ id: string; mac: Uint8Array; attempts_left: number }>`
    with latest as (
      select id from one_time_codes
      where account_id = ${accountId} and to_number = ${toNumberKey(to)} and purpose = ${purpose}
      order by created_at desc limit 1
    )
    update one_time_codes c set attempts_left = c.attempts_left - 1
    from latest
    where c.account_id = ${accountId} and c.id = latest.id and c.attempts_left > 0 and c.expires_at > now()
    returning c.id, c.mac, c.attempts_left`.execute(db)
  const [row] = rows
  return row && { id: row.id, mac: row.mac, attemptsLeft: row.attempts_left }
}

/** Returns why the latest code cannot be checked. */
export async function explainUncheckable(
  db: Kysely<Database>,
  { accountId, to, purpose }: CodeKey,
): Promise<'none' | 'expired' | 'no attempts'> {
  const row = await db
    .selectFrom('one_time_codes')
    .select(sql<boolean>`expires_at <= now()`.as('expired'))
    .where('account_id', '=', accountId)
    .where('to_number', '=', toNumberKey(to))
    .where('purpose', '=', purpose)
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!row) return 'none'
  return row.expired ? 'expired' : 'no attempts'
}

/** Deletes a correct code and the earlier ones. Returns false if another request used it first. */
export async function useCode(db: Kysely<Database>, key: CodeKey, id: string): Promise<boolean> {
  const { rows } = await sql<{ id: string }>`
    with used as (
      delete from one_time_codes where account_id = ${key.accountId} and id = ${id} returning id, created_at
    ), earlier as (
      delete from one_time_codes c using used
      where c.account_id = ${key.accountId} and c.to_number = ${toNumberKey(key.to)} and c.purpose = ${key.purpose}
        and c.created_at < used.created_at
    )
    select id from used`.execute(db)
  return rows.length > 0
}

/** Deletes the codes of all accounts an hour after they expire. Until then, a late check reports why it fails. */
export async function deleteOldCodes(db: Kysely<Database>): Promise<void> {
  await sql`delete from one_time_codes where expires_at < now() - interval '1 hour'`.execute(db)
  await sql`delete from one_time_code_limits where last_at < now() - interval '1 hour'`.execute(db)
}
