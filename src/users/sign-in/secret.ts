import type { Kysely } from 'kysely'
import type { StoredSecret } from '../../accounts/rekey.ts'
import type { Deps } from '../../deps.ts'
import { replaceCiphertext } from '../../platform/db/ciphertext.ts'
import type { Database } from '../../platform/db/schema.ts'

const purpose = 'owner_auth_secret'
const secretBytes = 32

/**
 * Returns the secret that signs session cookies and encrypts authenticator secrets. It is generated once and stored in
 * the database, so that a new WAYBILL_SECRET_KEY does not end sessions.
 */
export async function readAuthSecret({
  db,
  secrets,
  randomBytes,
}: Pick<Deps, 'db' | 'secrets' | 'randomBytes'>): Promise<string> {
  const known = await findAuthSecret(db)
  if (known !== undefined) return secrets.decrypt(known, purpose)
  const created = Buffer.from(randomBytes(secretBytes)).toString('base64url')
  // If two processes start at once, the first insert wins.
  await insertAuthSecret(db, secrets.encrypt(created, purpose))
  return readAuthSecret({ db, secrets, randomBytes })
}

export async function listAuthSecrets(db: Kysely<Database>): Promise<StoredSecret[]> {
  const ciphertext = await findAuthSecret(db)
  if (ciphertext === undefined) return []
  const place = { table: 'owner_auth_secret', column: 'secret_encrypted', key: { only_one: true } } as const
  const replace: StoredSecret['replace'] = (trx, to) => replaceCiphertext(trx, place, { from: ciphertext, to })
  return [{ recordId: 'dashboard', purpose, ciphertext, replace }]
}

/** Belongs to the server, not to an account. */
async function findAuthSecret(db: Kysely<Database>): Promise<string | undefined> {
  const row = await db.selectFrom('owner_auth_secret').select('secret_encrypted as ciphertext').executeTakeFirst()
  return row?.ciphertext
}

/** An existing secret is not overwritten. */
async function insertAuthSecret(db: Kysely<Database>, secretEncrypted: string): Promise<void> {
  await db
    .insertInto('owner_auth_secret')
    .values({ secret_encrypted: secretEncrypted })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
