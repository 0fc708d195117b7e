import { type Kysely, type RawBuilder, sql } from 'kysely'
import { codeLimits } from '../../../contracts/api/code.ts'
import { fieldsOf } from '../../platform/db/columns.ts'
import type { Database } from '../../platform/db/schema.ts'
import { messageColumns, type StoredMessage } from '../message.ts'
import { keysUnderAnyName } from '../recipients/store.ts'
import { toNumberKey } from '../suppressions/number-key.ts'

export interface CodeKey {
  accountId: string
  /** In any spelling. It is stored as its number key, and found under every name of the recipient. */
  to: string
  purpose: string
}

export interface NewCode extends CodeKey {
  id: string
  mac: Uint8Array
  maxAttempts: number
  expiresInSeconds: number
  /** The message that carries the code. */
  messageId: string
  /** By which a retry of the request is recognized. */
  requestHash: Uint8Array
}

export interface CodeTimes {
  createdAt: Date
  expiresAt: Date
}

export interface StoredCode extends CodeTimes {
  /** How long the recipient must wait because of codes that were sent to another name; null if not at all. */
  waitSeconds: number | null
}

/**
 * Uses the clock of the database, which all nodes share. `limits.ts` counts the codes to one name; this statement counts
 * those to the person, so that a send needs no other.
 */
export function insertCode(db: Kysely<Database>, code: NewCode): Promise<StoredCode> {
  return db
    .insertInto('one_time_codes')
    .values({
      account_id: code.accountId,
      id: code.id,
      to_number: toNumberKey(code.to),
      purpose: code.purpose,
      mac: code.mac,
      attempts_left: code.maxAttempts,
      message_id: code.messageId,
      request_hash: code.requestHash,
      expires_at: sql<Date>`now() + ${code.expiresInSeconds} * interval '1 second'`,
    })
    .returning(['created_at as createdAt', 'expires_at as expiresAt', waitOfPerson(code).as('waitSeconds')])
    .executeTakeFirstOrThrow()
}

function waitOfPerson({ accountId, to }: CodeKey): RawBuilder<number | null> {
  const { secondsBetweenSends, sendsPerRecipientAndHour } = codeLimits
  return sql`(
    select ceil(extract(epoch from greatest(
      max(sent.created_at) filter (where sent.is_other) + ${secondsBetweenSends}::float8 * interval '1 second' - now(),
      case when bool_or(sent.is_other) and count(*) >= ${sendsPerRecipientAndHour}
        then min(sent.created_at) + interval '1 hour' - now() end
    )))::integer
    from (
      select created_at, to_number <> ${toNumberKey(to)} as is_other from one_time_codes
      where account_id = ${accountId} and to_number = any(${keysUnderAnyName(accountId, to)})
        and created_at > now() - interval '1 hour'
    ) sent
  )`
}

export async function deleteCode(db: Kysely<Database>, accountId: string, id: string): Promise<void> {
  await db.deleteFrom('one_time_codes').where('account_id', '=', accountId).where('id', '=', id).execute()
}

/** The times of the code that a message carries; undefined if the code was used or has expired. */
export function findCodeTimes(
  db: Kysely<Database>,
  { accountId, to, purpose }: CodeKey,
  messageId: string,
): Promise<CodeTimes | undefined> {
  return db
    .selectFrom('one_time_codes')
    .select(['created_at as createdAt', 'expires_at as expiresAt'])
    .where('account_id', '=', accountId)
    .where(sql<boolean>`to_number = any(${keysUnderAnyName(accountId, to)})`)
    .where('purpose', '=', purpose)
    .where('message_id', '=', messageId)
    .executeTakeFirst()
}

/** The latest code of a recipient, if it was sent so recently that no other may be sent yet. */
export interface RecentCode extends CodeTimes {
  requestHash: Uint8Array
  /** Undefined while the message is not recorded. */
  message: StoredMessage | undefined
}

export async function findRecentCode(
  db: Kysely<Database>,
  { accountId, to, purpose }: CodeKey,
  seconds: number,
): Promise<RecentCode | undefined> {
  const { rows } = await sql<
    StoredMessage & { requestHash: Uint8Array; codeCreatedAt: Date; codeExpiresAt: Date; found: boolean }
  >`
    select ${sql.raw(fieldsOf(messageColumns, 'm'))}, m.id is not null as found,
      c.request_hash as "requestHash", c.created_at as "codeCreatedAt", c.expires_at as "codeExpiresAt"
    from (
      select * from one_time_codes
      where account_id = ${accountId} and to_number = any(${keysUnderAnyName(accountId, to)}) and purpose = ${purpose}
      order by created_at desc limit 1
    ) c
    left join messages m on m.account_id = c.account_id and m.id = c.message_id
    where c.request_hash is not null and c.attempts_left > 0 and now() - c.created_at < ${seconds} * interval '1 second'`.execute(
    db,
  )
  const [row] = rows
  if (!row) return undefined
  const { requestHash, codeCreatedAt: createdAt, codeExpiresAt: expiresAt, found, ...message } = row
  return { requestHash, createdAt, expiresAt, message: found ? message : undefined }
}

export interface CodeAttempt {
  id: string
  mac: Uint8Array
  attemptsLeft: number
}

/** The clock of the database was set back by this many seconds. Otherwise, an earlier code would remain the latest one. */
export async function shiftCodes(trx: Kysely<Database>, seconds: number): Promise<void> {
  await sql`
    update one_time_codes set created_at = created_at - ${seconds} * interval '1 second',
      expires_at = expires_at - ${seconds} * interval '1 second'
    where created_at > now()`.execute(trx)
}

/**
 * Uses up one attempt at the latest code before the code is compared, so that concurrent guesses cannot share an
 * attempt. Returns undefined if the code cannot be checked.
 */
export async function consumeAttempt(
  db: Kysely<Database>,
  { accountId, to, purpose }: CodeKey,
): Promise<CodeAttempt | undefined> {
  const { rows } = await sql<CodeAttempt>`
    with latest as (
      select id from one_time_codes
      where account_id = ${accountId} and to_number = any(${keysUnderAnyName(accountId, to)}) and purpose = ${purpose}
      order by created_at desc limit 1
    )
    update one_time_codes c set attempts_left = c.attempts_left - 1
    from latest
    where c.account_id = ${accountId} and c.id = latest.id and c.attempts_left > 0 and c.expires_at > now()
    returning c.id, c.mac, c.attempts_left as "attemptsLeft"`.execute(db)
  return rows[0]
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
    .where(sql<boolean>`to_number = any(${keysUnderAnyName(accountId, to)})`)
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
      where c.account_id = ${key.accountId} and c.to_number = any(${keysUnderAnyName(key.accountId, key.to)}) and c.purpose = ${key.purpose}
        and c.created_at < used.created_at
    )
    select id from used`.execute(db)
  return rows.length > 0
}

/** Deletes the codes of all accounts an hour after they expire. Until then, a late check reports why it fails. */
export async function deleteOldCodes(db: Kysely<Database>, now: Date): Promise<void> {
  await sql`delete from one_time_codes where expires_at < ${now}::timestamptz - interval '1 hour'`.execute(db)
  await sql`delete from one_time_code_limits where last_at < ${now}::timestamptz - interval '1 hour'`.execute(db)
}
