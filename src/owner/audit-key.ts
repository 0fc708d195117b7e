import { createHash } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { StoredSecret } from '../account/stored-secret.ts'
import type { Database } from '../db/schema.ts'
import type { Deps } from '../deps.ts'
import type { AuditKey, AuditKeys } from './audit-chain.ts'
import { findAuditKeys, insertAuditKey, replaceAuditKey, type AuditKeyRow } from './audit-store.ts'

const keyBytes = 32

/** Those that WAYBILL_SECRET_KEY decrypts, the newest first. */
export async function readAuditKeys({ db, secrets }: Pick<Deps, 'db' | 'secrets'>): Promise<AuditKeys> {
  const rows = await findAuditKeys(db)
  return new Map(rows.flatMap((row) => openKey(secrets, row)).map((key) => [key.id, key]))
}

function openKey(secrets: Deps['secrets'], { id, key_encrypted }: AuditKeyRow): AuditKey[] {
  try {
    return [{ id, key: Buffer.from(secrets.decrypt(key_encrypted, purposeOf(id)), 'base64url') }]
  } catch {
    return []
  }
}

/** Random, and not derived from WAYBILL_SECRET_KEY: after `rekey` it is the same key in another wrapping. */
export async function createAuditKey({
  db,
  secrets,
  randomBytes,
}: Pick<Deps, 'db' | 'secrets' | 'randomBytes'>): Promise<AuditKey> {
  const key = Buffer.from(randomBytes(keyBytes))
  const id = createHash('sha256').update(key).digest('hex').slice(0, 8)
  await insertAuditKey(db, { id, key_encrypted: secrets.encrypt(key.toString('base64url'), purposeOf(id)) })
  return { id, key }
}

export async function listAuditKeys(db: Kysely<Database>): Promise<StoredSecret[]> {
  const rows = await findAuditKeys(db)
  return rows.map(({ id, key_encrypted: ciphertext }) => ({
    ownerId: 'audit log',
    purpose: purposeOf(id),
    ciphertext,
    replace: (db, to) => replaceAuditKey(db, id, { from: ciphertext, to }),
  }))
}

function purposeOf(id: string): string {
  return `audit_keys:${id}`
}
