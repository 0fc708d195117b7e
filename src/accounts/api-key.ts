import { hash } from 'node:crypto'
import { errorFactsWithValues } from '../../contracts/facts/errors.ts'
import { ServiceError } from '../../contracts/errors.ts'
import type { IssuedKey } from '../../contracts/dashboard/public-api.ts'
import type { Deps } from '../deps.ts'
import { requireAccount } from './account.ts'
import { deleteKey, insertKey, type KeyRow, replaceKey } from './store.ts'

/** A key is the prefix and 64 hexadecimal characters. */
const prefix = 'wb_live_'
const randomByteCount = 32
const pattern = /^wb_live_[0-9a-f]{64}$/
const startLength = prefix.length + 6

export interface NewApiKey {
  /** The key, which is shown once; only its hash is stored. */
  apiKey: string
  /** The first characters, which identify the key. */
  start: string
  hash: Uint8Array
}

export function generateApiKey(randomBytes: (size: number) => Uint8Array): NewApiKey {
  const apiKey = prefix + Buffer.from(randomBytes(randomByteCount)).toString('hex')
  return { apiKey, start: startOfApiKey(apiKey), hash: Buffer.from(hashApiKey(apiKey), 'hex') }
}

/** The first characters of a key, which are not secret. */
export function startOfApiKey(apiKey: string): string {
  return apiKey.slice(0, startLength)
}

/** Returns whether a text has the form of an API key. Other texts are rejected without a database query. */
export function isApiKey(text: string): boolean {
  return pattern.test(text)
}

/** A key has 256 random bits, so a plain SHA-256 hash is sufficient. It is a text, by which requests are also compared. */
export function hashApiKey(apiKey: string): string {
  return hash('sha256', apiKey)
}

function issueKey(deps: Pick<Deps, 'now' | 'randomBytes'>, accountId: string): { issued: IssuedKey; row: KeyRow } {
  const { apiKey, start, hash: keyHash } = generateApiKey(deps.randomBytes)
  const createdAt = deps.now()
  return {
    issued: { apiKey, start, createdAt: createdAt.toISOString() },
    row: { accountId, keyHash, start, createdAt },
  }
}

/** Fails if the account has a key, because replacing a key breaks its users. `regenerateKey` does that explicitly. */
export async function generateKey(
  deps: Pick<Deps, 'db' | 'now' | 'randomBytes'>,
  accountId: string,
): Promise<IssuedKey> {
  await requireAccount(deps.db, accountId)
  const { issued, row } = issueKey(deps, accountId)
  if (!(await insertKey(deps.db, row)))
    throw new ServiceError('SETTING_REFUSED', errorFactsWithValues.hasKey({ accountId }), {
      remedy: `To replace it and invalidate the old key immediately: waybill key regenerate ${accountId}`,
    })
  return issued
}

/** The old key is invalid immediately. If there is none, one is generated. */
export async function regenerateKey(
  deps: Pick<Deps, 'db' | 'now' | 'randomBytes'>,
  accountId: string,
): Promise<IssuedKey> {
  await requireAccount(deps.db, accountId)
  const { issued, row } = issueKey(deps, accountId)
  await replaceKey(deps.db, row)
  return issued
}

/** All requests are rejected until a new key is generated. `revoked` is false if there was none. */
export async function revokeKey(deps: Pick<Deps, 'db'>, accountId: string): Promise<{ revoked: boolean }> {
  await requireAccount(deps.db, accountId)
  return { revoked: await deleteKey(deps.db, accountId) }
}
