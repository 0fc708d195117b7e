import type { Kysely } from 'kysely'
import { ServiceError } from '../../../contracts/errors.ts'
import type { StoredSecret } from '../../accounts/rekey.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import type { SecretBox } from '../../platform/secrets.ts'
import { secretPrefix } from '../delivery/sign.ts'
import { endpointNotFound } from './endpoint.ts'
import {
  changeEndpoint,
  type EndpointRow,
  findAllEndpoints,
  findEndpoint,
  lockEndpoint,
  replaceEndpointSecret,
} from './store.ts'

/** What a stored secret is for: bound to its ciphertext, so that it cannot be moved to another row. */

export function endpointSecretPurpose(endpointId: string): string {
  return `webhook_endpoints.secret:${endpointId}`
}

export function endpointHeadersPurpose(endpointId: string): string {
  return `webhook_endpoints.headers:${endpointId}`
}

const secretBytes = 24

/** 24 to 64 random bytes in base64, behind a prefix (Standard Webhooks, "Signature scheme"). */
export function generateSecret(randomBytes: (size: number) => Uint8Array): string {
  return secretPrefix + Buffer.from(randomBytes(secretBytes)).toString('base64')
}

const purposes = {
  secret_encrypted: endpointSecretPurpose,
  previous_secret_encrypted: endpointSecretPurpose,
  headers_encrypted: endpointHeadersPurpose,
} as const

const columns = ['secret_encrypted', 'previous_secret_encrypted', 'headers_encrypted'] as const

/** The secrets of every endpoint, and its headers, which may authorize. */
export async function listEndpointSecrets(db: Kysely<Database>): Promise<StoredSecret[]> {
  const rows = await findAllEndpoints(db)
  return rows.flatMap((row) =>
    columns.flatMap((column) => {
      const ciphertext = row[column]
      if (ciphertext === null) return []
      const replace: StoredSecret['replace'] = (db, to) =>
        replaceEndpointSecret(db, row, column, { from: ciphertext, to })
      return [{ ownerId: row.id, purpose: purposes[column](row.id), ciphertext, replace }]
    }),
  )
}

/** The one secret that comes back once it is stored: a receiver that lost it could verify nothing. */
export async function revealSecret(
  { db, secrets }: Pick<Deps, 'db' | 'secrets'>,
  accountId: string,
  endpointId: string,
): Promise<{ secret: string }> {
  const row = await findEndpoint(db, accountId, endpointId)
  if (!row) throw endpointNotFound(endpointId)
  return { secret: secrets.decrypt(row.secret_encrypted, endpointSecretPurpose(endpointId)) }
}

export const defaultOverlapSeconds = 24 * 60 * 60
const longestOverlapSeconds = 30 * 24 * 60 * 60

export interface RotatedSecret {
  /** Shown this once. */
  secret: string
  /** Until when the secret before this one signs too; absent when it stopped at once. */
  previousSecretUntil?: string
}

/**
 * Makes a new secret. The one before signs too until `overlapSeconds` have passed, so that a receiver
 * can change over in between; of an earlier rotation nothing is left.
 */
export async function rotateSecret(
  deps: Pick<Deps, 'db' | 'now' | 'secrets' | 'randomBytes'>,
  accountId: string,
  endpointId: string,
  { overlapSeconds = defaultOverlapSeconds }: { overlapSeconds?: number | undefined } = {},
): Promise<RotatedSecret> {
  if (!(overlapSeconds >= 0 && overlapSeconds <= longestOverlapSeconds))
    throw new ServiceError(
      'SETTING_REFUSED',
      'Two secrets can sign for 30 days at most. Give a shorter overlap, such as 24h, or 0s.',
    )
  const secret = generateSecret(deps.randomBytes)
  const sealed = deps.secrets.encrypt(secret, endpointSecretPurpose(endpointId))
  const until = overlapSeconds > 0 ? new Date(deps.now().getTime() + overlapSeconds * 1000) : null
  await deps.db.transaction().execute(async (trx) => {
    const row = await lockEndpoint(trx, accountId, endpointId)
    if (!row) throw endpointNotFound(endpointId)
    await changeEndpoint(trx, accountId, endpointId, {
      secret_encrypted: sealed,
      previous_secret_encrypted: until && row.secret_encrypted,
      previous_secret_expires_at: until,
    })
  })
  return { secret, ...(until && { previousSecretUntil: until.toISOString() }) }
}

/** What an attempt needs of an endpoint, and nobody else may read. */
export interface OpenedEndpoint {
  headers: Record<string, string>
  /** Each of them signs: after a rotation the previous one too, until it expires. */
  secrets: string[]
}

export type SealedEndpoint = Pick<
  EndpointRow,
  'id' | 'headers_encrypted' | 'secret_encrypted' | 'previous_secret_encrypted' | 'previous_secret_expires_at'
>

export function openEndpoint(box: SecretBox, row: SealedEndpoint, now: Date): OpenedEndpoint {
  const { headers_encrypted: headers, previous_secret_encrypted: previous, previous_secret_expires_at: expiresAt } = row
  const stillSigns = previous !== null && expiresAt !== null && expiresAt > now
  const secrets = stillSigns ? [row.secret_encrypted, previous] : [row.secret_encrypted]
  return {
    headers: headers === null ? {} : JSON.parse(box.decrypt(headers, endpointHeadersPurpose(row.id))),
    secrets: secrets.map((secret) => box.decrypt(secret, endpointSecretPurpose(row.id))),
  }
}
