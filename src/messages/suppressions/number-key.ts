import { createHmac } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { StoredSecret } from '../../accounts/rekey.ts'
import type { Deps } from '../../deps.ts'
import { replaceCiphertext } from '../../platform/db/ciphertext.ts'
import type { Database } from '../../platform/db/schema.ts'
import { type SecretBox, UnknownSecretKeyError } from '../../platform/secrets.ts'

/**
 * Countries where one number has two spellings: what belongs to each of them, and how the form in which numbers are
 * compared follows from it (reference, section 1; autumn reference, section 4.2).
 */
const countries = [
  // Mexico: 52, an optional 1, ten digits.
  { longer: /^521(\d{10})$/, shorter: /^52(\d{10})$/, short: '52', long: '521' },
  // Argentina: 54, an optional 9, area code and number with ten digits.
  { longer: /^549(\d{10})$/, shorter: /^54(\d{10})$/, short: '54', long: '549' },
  // Benin: 229, 01 since November 2024, eight digits.
  { longer: /^22901(\d{8})$/, shorter: /^229(\d{8})$/, short: '229', long: '22901' },
  // Ivory Coast: 225, for mobile numbers the operator's prefix since January 2021, eight digits, whose second one tells
  // the operator. WhatsApp keeps the old form of accounts from before (waha, issue 1894).
  { longer: /^22501([04-9][0-3]\d{6})$/, shorter: /^225([04-9][0-3]\d{6})$/, short: '225', long: '22501' },
  { longer: /^22505([04-9][4-6]\d{6})$/, shorter: /^225([04-9][4-6]\d{6})$/, short: '225', long: '22505' },
  { longer: /^22507([04-9][7-9]\d{6})$/, shorter: /^225([04-9][7-9]\d{6})$/, short: '225', long: '22507' },
] as const
const longBrazilian = /^(55\d{2})9(\d{8})$/
const shortBrazilian = /^(55\d{2})(\d{8})$/

/**
 * The form in which recipients are compared. WhatsApp writes some numbers with and without extra digits, so a recipient
 * can reply from a number that differs from `to`. A user ID is compared as it is.
 */
export function toNumberKey(recipient: string): string {
  // Brazil: 55, an area code, an optional 9, eight digits.
  const [, area, local] = longBrazilian.exec(recipient) ?? []
  if (area !== undefined && local !== undefined) return area + local
  for (const { longer, short } of countries) {
    const rest = longer.exec(recipient)?.[1]
    if (rest !== undefined) return short + rest
  }
  return recipient
}

/** The same form in SQL, of an expression. */
export function numberKeySql(number: string): string {
  const folded = countries.reduce(
    (sql, { longer, short }) => `regexp_replace(${sql}, '${longer.source}', '${short}\\1')`,
    `regexp_replace(${number}, '${longBrazilian.source}', '\\1\\2')`,
  )
  // Compared first, because most numbers are of other countries, and each expression costs time.
  const starts = new Set(['55', ...countries.map(({ short }) => short)].map((code) => `'${code.slice(0, 2)}'`))
  return `case when left(${number}, 2) in (${[...starts].join(', ')}) then ${folded} else ${number} end`
}

/** Spellings of a number differ at its beginning only. */
const commonDigits = 6

/** Whether WhatsApp can mean this number by `other`. If not, `other` is somebody else's. */
export function canBeOneNumber(number: string, other: string): boolean {
  return number.slice(-commonDigits) === other.slice(-commonDigits)
}

/** All spellings of a number that share its key: that of the key, and that with the extra digits. */
export function spellingsOf(recipient: string): string[] {
  const key = toNumberKey(recipient)
  const [, area, local] = shortBrazilian.exec(key) ?? []
  if (area !== undefined && local !== undefined) return [key, `${area}9${local}`]
  for (const { shorter, long } of countries) {
    const rest = shorter.exec(key)?.[1]
    if (rest !== undefined) return [key, long + rest]
  }
  return [key]
}

/** Earlier versions of Waybill did not shorten these numbers. */
const formerlyUnchanged = /^(54\d{10}|229\d{8}|225[04-9]\d{7})$/

/** The key of a recipient, first, and those under which earlier versions may have stored it. */
export function storedKeysOf(recipient: string): string[] {
  const key = toNumberKey(recipient)
  return formerlyUnchanged.test(key) ? spellingsOf(key) : [key]
}

/** The HMAC key for suppressions of erased recipients. */
export type HashKey = Buffer

const id = 'suppressions'
const purpose = 'recipient_hash_keys.key'
const keyBytes = 32
/** No number starts like this. */
const prefix = 'hmac:'

/**
 * Returns the replacement of an erased recipient: the HMAC of their key (`toNumberKey`). Without the server key, a
 * database dump does not reveal the number. Each account has a different one.
 */
export function hashNumberKey(key: HashKey, accountId: string, numberKey: string): string {
  return prefix + createHmac('sha256', key).update(`${accountId}\n${numberKey}`).digest('base64url')
}

/**
 * Undefined if no recipient was ever erased or checked, so there are no hashes, or if no server key decrypts it, so they
 * match nobody: opt-outs and statuses must not fail because of it. Sends log it, and so does `waybill doctor`.
 */
export async function findHashKey(db: Kysely<Database>, secrets: SecretBox): Promise<HashKey | undefined> {
  const ciphertext = await findCiphertext(db)
  try {
    return ciphertext === undefined ? undefined : openHashKey(secrets, ciphertext)
  } catch (error) {
    if (error instanceof UnknownSecretKeyError) return undefined
    throw error
  }
}

function openHashKey(secrets: SecretBox, ciphertext: string): HashKey {
  return Buffer.from(secrets.decryptCached(ciphertext, purpose), 'base64url')
}

/**
 * Returns the key, which is generated once and stored encrypted, so that it survives a new WAYBILL_SECRET_KEY. Do not
 * call this in a transaction, whose rollback would discard the key.
 */
export async function readHashKey({
  db,
  secrets,
  randomBytes,
}: Pick<Deps, 'db' | 'secrets' | 'randomBytes'>): Promise<HashKey> {
  const known = await findCiphertext(db)
  if (known !== undefined) return openHashKey(secrets, known)
  const generated = Buffer.from(randomBytes(keyBytes)).toString('base64url')
  // If two processes start at once, the first insert wins.
  await db
    .insertInto('recipient_hash_keys')
    .values({ id, key_encrypted: secrets.encrypt(generated, purpose) })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return readHashKey({ db, secrets, randomBytes })
}

const cached = new WeakMap<Kysely<Database>, Promise<HashKey | undefined>>()

/**
 * Returns the key for sends; it is read once per process. If no server key decrypts it, the hashes no longer match
 * anyone: this is logged, and sends continue.
 */
export function getCachedHashKey(
  deps: Pick<Deps, 'db' | 'secrets' | 'randomBytes' | 'log'>,
): Promise<HashKey | undefined> {
  const known = cached.get(deps.db)
  if (known) return known
  const reading = read(deps)
  cached.set(deps.db, reading)
  // If the database was unavailable, the next call reads the key again.
  reading.catch(() => cached.delete(deps.db))
  return reading
}

async function read(deps: Pick<Deps, 'db' | 'secrets' | 'randomBytes' | 'log'>): Promise<HashKey | undefined> {
  const ciphertext = await findCiphertext(deps.db)
  if (ciphertext === undefined) return readHashKey(deps)
  try {
    return openHashKey(deps.secrets, ciphertext)
  } catch (error) {
    deps.log.error({ err: error }, 'could not decrypt the key of erased suppressions; run: waybill doctor')
    return undefined
  }
}

/** Belongs to the server, not to an account. */
async function findCiphertext(db: Kysely<Database>): Promise<string | undefined> {
  const keys = db.selectFrom('recipient_hash_keys').select('key_encrypted as ciphertext').where('id', '=', id)
  return (await keys.executeTakeFirst())?.ciphertext
}

export async function listHashKeys(db: Kysely<Database>): Promise<StoredSecret[]> {
  const ciphertext = await findCiphertext(db)
  if (ciphertext === undefined) return []
  const place = { table: 'recipient_hash_keys', column: 'key_encrypted', key: { id } } as const
  const replace: StoredSecret['replace'] = (trx, to) => replaceCiphertext(trx, place, { from: ciphertext, to })
  return [{ recordId: id, purpose, ciphertext, replace }]
}
