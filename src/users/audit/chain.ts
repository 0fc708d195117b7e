import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { StoredSecret } from '../../accounts/rekey.ts'
import type { Deps } from '../../deps.ts'
import { replaceCiphertext } from '../../platform/db/ciphertext.ts'
import type { Database } from '../../platform/db/schema.ts'
import { type AuditChainRow, type AuditEntryRow, type AuditKeyRow, findAuditKeys, insertAuditKey } from './store.ts'

/**
 * The hash chain of an account's audit log. Each entry has a SHA-256 hash of the previous hash and its own fields, and
 * an HMAC of that hash. The HMAC key is stored encrypted only, so that write access to the database is not enough to
 * compute another chain. The head of the chain has an HMAC too, so that entries cannot be cut off at either end.
 */

/** An entry before it is added to the chain. */
export type UnsealedEntry = Omit<AuditEntryRow, 'keyId' | 'hash' | 'mac'>

export interface AuditKey {
  id: string
  key: Uint8Array
}

/** Audit keys by ID, as far as WAYBILL_SECRET_KEY decrypts them. */
export type AuditKeys = ReadonlyMap<string, AuditKey>

/** The entry that the next one is linked to. */
export interface ChainLink {
  sequence: number
  hash: Uint8Array
}

/** The link of the first entry of an account. */
export const chainStart: ChainLink = { sequence: 0, hash: new Uint8Array(32) }

export function sealEntry(previousHash: Uint8Array, entry: UnsealedEntry, key: AuditKey): AuditEntryRow {
  const hash = hashEntry(previousHash, { ...entry, keyId: key.id })
  return { ...entry, keyId: key.id, hash, mac: authenticate(key, 'entry', hash) }
}

export function sealHead(head: Omit<AuditChainRow, 'keyId' | 'mac'>, key: AuditKey): AuditChainRow {
  const keyed = { ...head, keyId: key.id }
  return { ...keyed, mac: authenticate(key, 'head', encodeHead(keyed)) }
}

/**
 * Returns the number of the next entry. It skips a number if the head is not authentic or unknown entries exist: the
 * new head will be authentic, and the gap remains as evidence.
 */
export function nextSequence(head: AuditChainRow, lastSequence: number, keys: AuditKeys): number {
  const intact = findHeadFault(head, keys) === undefined && lastSequence <= head.sequence
  return Math.max(head.sequence, lastSequence) + (intact ? 1 : 2)
}

/** Returns what is wrong with an entry that follows `previous`; undefined if it is valid. */
export function findEntryFault(previous: ChainLink, entry: AuditEntryRow, keys: AuditKeys): ChainFault | undefined {
  const { sequence } = entry
  const expected = previous.sequence + 1
  if (sequence > expected) return missing(expected, sequence - 1)
  if (sequence < expected) return { sequence, reason: 'it has the number of an entry that expired: it was inserted' }
  if (!isEqual(entry.hash, hashEntry(previous.hash, entry)))
    return { sequence, reason: 'its hash does not match: this entry was changed, or another one is in its place' }
  const key = keys.get(entry.keyId)
  if (!key) return { sequence, reason: unknownKey(entry.keyId) }
  if (isEqual(entry.mac, authenticate(key, 'entry', entry.hash))) return undefined
  return { sequence, reason: 'its HMAC does not match: this installation did not write it' }
}

export interface ChainFault {
  /** The first broken or missing entry. */
  sequence: number
  reason: string
}

export function missing(first: number, last: number): ChainFault {
  const what = first === last ? `entry ${first} is missing` : `entries ${first} to ${last} are missing`
  return { sequence: first, reason: what }
}

export function findHeadFault(head: AuditChainRow, keys: AuditKeys): string | undefined {
  const key = keys.get(head.keyId)
  if (!key) return unknownKey(head.keyId)
  if (isEqual(head.mac, authenticate(key, 'head', encodeHead(head)))) return undefined
  return 'the HMAC of the head does not match: this installation did not write it'
}

export function isEqual(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right)
}

function unknownKey(id: string): string {
  return `no key of WAYBILL_SECRET_KEY decrypts the audit key ${JSON.stringify(id)} that it names`
}

/**
 * A JSON array with a fixed number of elements, so that different entries never have the same text. Entries before facts
 * have version 1.
 */
function hashEntry(previousHash: Uint8Array, entry: Omit<AuditEntryRow, 'hash' | 'mac'>): Buffer {
  const { hashVersion, accountId, sequence, startSequence, id, outcome, who, what, address, keyId } = entry
  const at = encodeTime(entry.createdAt)
  const fields = [hashVersion, accountId, sequence, startSequence, id, outcome, who, what, address, at, keyId]
  if (hashVersion > 1) fields.push(entry.fact)
  return createHash('sha256').update(previousHash).update(JSON.stringify(fields)).digest()
}

function encodeHead(head: Omit<AuditChainRow, 'mac'>): string {
  const { accountId, sequence, hash, expiredSequence, expiredHash, keyId } = head
  return JSON.stringify([1, accountId, sequence, toHex(hash), expiredSequence, toHex(expiredHash), keyId])
}

function authenticate({ key }: AuditKey, domain: 'entry' | 'head', data: Uint8Array | string): Buffer {
  return createHmac('sha256', key).update(`waybill audit ${domain}\0`).update(data).digest()
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

/** PostgreSQL has times that are not valid dates, such as `infinity`, which a tampered row may contain. */
export function encodeTime(time: unknown): string {
  return time instanceof Date && !Number.isNaN(time.getTime()) ? time.toISOString() : String(time)
}

const keyBytes = 32

/** Returns the keys that WAYBILL_SECRET_KEY decrypts, newest first. */
export async function readAuditKeys({ db, secrets }: Pick<Deps, 'db' | 'secrets'>): Promise<AuditKeys> {
  const rows = await findAuditKeys(db)
  return new Map(rows.flatMap((row) => openKey(secrets, row)).map((key) => [key.id, key]))
}

function openKey(secrets: Deps['secrets'], { id, keyEncrypted }: AuditKeyRow): AuditKey[] {
  try {
    return [{ id, key: Buffer.from(secrets.decryptCached(keyEncrypted, purposeOf(id)), 'base64url') }]
  } catch {
    return []
  }
}

/** The key is random instead of derived from WAYBILL_SECRET_KEY, so that it stays the same after `rekey`. */
export async function createAuditKey({
  db,
  secrets,
  randomBytes,
}: Pick<Deps, 'db' | 'secrets' | 'randomBytes'>): Promise<AuditKey> {
  const key = Buffer.from(randomBytes(keyBytes))
  const id = createHash('sha256').update(key).digest('hex').slice(0, 8)
  await insertAuditKey(db, { id, keyEncrypted: secrets.encrypt(key.toString('base64url'), purposeOf(id)) })
  return { id, key }
}

export async function listAuditKeys(db: Kysely<Database>): Promise<StoredSecret[]> {
  const rows = await findAuditKeys(db)
  return rows.map(({ id, keyEncrypted: ciphertext }) => ({
    recordId: 'audit log',
    purpose: purposeOf(id),
    ciphertext,
    replace: (trx, to) =>
      replaceCiphertext(trx, { table: 'audit_keys', column: 'key_encrypted', key: { id } }, { from: ciphertext, to }),
  }))
}

function purposeOf(id: string): string {
  return `audit_keys:${id}`
}
