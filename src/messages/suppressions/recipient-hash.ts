import { createHmac } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { StoredSecret } from '../../accounts/rekey.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import type { SecretBox } from '../../platform/secrets.ts'

/** The HMAC key for suppressions of erased recipients. */
export type HashKey = Buffer

const id = 'suppressions'
const purpose = 'recipient_hash_keys.key'
const keyBytes = 32
/** No number starts like this. */
const prefix = 'hmac:'

/**
 * Returns the replacement of an erased recipient: the HMAC of their key (number-key.ts). Without the server key, a
 * database dump does not reveal the number. Each account has a different one.
 */
export function hashNumberKey(key: HashKey, accountId: string, numberKey: string): string {
  return prefix + createHmac('sha256', key).update(`${accountId}\n${numberKey}`).digest('base64url')
}

/** Undefined if no recipient was ever erased or checked, so there are no hashes. */
export async function findHashKey(db: Kysely<Database>, secrets: SecretBox): Promise<HashKey | undefined> {
  const ciphertext = await findCiphertext(db)
  return ciphertext === undefined ? undefined : openHashKey(secrets, ciphertext)
}

function openHashKey(secrets: SecretBox, ciphertext: string): HashKey {
  return Buffer.from(secrets.decrypt(ciphertext, purpose), 'base64url')
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
  const known = await findHashKey(db, secrets)
  if (known) return known
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
  const row = await db.selectFrom('recipient_hash_keys').select('key_encrypted').where('id', '=', id).executeTakeFirst()
  return row?.key_encrypted
}

export async function listHashKeys(db: Kysely<Database>): Promise<StoredSecret[]> {
  const ciphertext = await findCiphertext(db)
  if (ciphertext === undefined) return []
  const replace: StoredSecret['replace'] = async (to, key_encrypted) => {
    const { numUpdatedRows } = await to
      .updateTable('recipient_hash_keys')
      .set({ key_encrypted })
      .where('id', '=', id)
      .where('key_encrypted', '=', ciphertext)
      .executeTakeFirst()
    return numUpdatedRows > 0n
  }
  return [{ recordId: id, purpose, ciphertext, replace }]
}
