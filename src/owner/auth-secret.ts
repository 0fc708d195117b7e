import type { Kysely } from 'kysely'
import type { StoredSecret } from '../account/stored-secret.ts'
import type { Database } from '../db/schema.ts'
import type { Deps } from '../deps.ts'
import { findAuthSecret, insertAuthSecret, replaceAuthSecret } from './auth-secret-store.ts'

const purpose = 'owner_auth_secret'
const secretBytes = 32

/**
 * What signs the cookies of sessions and encrypts what authenticator apps share with us. It is made once
 * and kept in the database, so that a new WAYBILL_SECRET_KEY signs nobody out.
 */
export async function readAuthSecret({
  db,
  secrets,
  randomBytes,
}: Pick<Deps, 'db' | 'secrets' | 'randomBytes'>): Promise<string> {
  const known = await findAuthSecret(db)
  if (known !== undefined) return secrets.decrypt(known, purpose)
  const made = Buffer.from(randomBytes(secretBytes)).toString('base64url')
  // Of two processes that start at once, one makes it.
  await insertAuthSecret(db, secrets.encrypt(made, purpose))
  return readAuthSecret({ db, secrets, randomBytes })
}

export async function listAuthSecrets(db: Kysely<Database>): Promise<StoredSecret[]> {
  const ciphertext = await findAuthSecret(db)
  if (ciphertext === undefined) return []
  const replace: StoredSecret['replace'] = (db, to) => replaceAuthSecret(db, { from: ciphertext, to })
  return [{ ownerId: 'dashboard', purpose, ciphertext, replace }]
}
