import type { Kysely } from 'kysely'
import type { rotateSecret as contract } from '../../../contracts/dashboard/webhook.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import { deliveryFailures } from '../../../contracts/facts/deliveries.ts'
import { errorFacts } from '../../../contracts/facts/errors.ts'
import type { Fact } from '../../../contracts/facts/fact.ts'
import type { OutputOf } from '../../../contracts/procedure.ts'
import type { StoredSecret } from '../../accounts/rekey.ts'
import type { Deps } from '../../deps.ts'
import { replaceCiphertext } from '../../platform/db/ciphertext.ts'
import type { Database } from '../../platform/db/schema.ts'
import { type SecretBox, tryDecryptCached } from '../../platform/secrets.ts'
import { secretPrefix } from '../sender/sign.ts'
import type { AttemptResult } from '../sender/webhook-sender.ts'
import { endpointNotFound } from './endpoint.ts'
import { changeEndpoint, type EndpointRow, findAllEndpoints, findEndpoint, lockEndpoint } from './store.ts'

/** The purpose is bound to the ciphertext, so that a secret cannot be moved to another row. */
export function endpointSecretPurpose(endpointId: string): string {
  return `webhook_endpoints.secret:${endpointId}`
}

function endpointHeadersPurpose(endpointId: string): string {
  return `webhook_endpoints.headers:${endpointId}`
}

const secretBytes = 24

/** Returns a prefix and random bytes in base64. Standard Webhooks ("Signature scheme") requires 24 to 64 bytes. */
export function generateSecret(randomBytes: (size: number) => Uint8Array): string {
  return secretPrefix + Buffer.from(randomBytes(secretBytes)).toString('base64')
}

const places = [
  { field: 'secretEncrypted', column: 'secret_encrypted', purposeOf: endpointSecretPurpose },
  { field: 'previousSecretEncrypted', column: 'previous_secret_encrypted', purposeOf: endpointSecretPurpose },
  { field: 'headersEncrypted', column: 'headers_encrypted', purposeOf: endpointHeadersPurpose },
] as const

/** Returns the encrypted secrets and headers of all endpoints. */
export async function listEndpointSecrets(db: Kysely<Database>): Promise<StoredSecret[]> {
  const rows = await findAllEndpoints(db)
  return rows.flatMap((row) =>
    places.flatMap(({ field, column, purposeOf }) => {
      const ciphertext = row[field]
      if (ciphertext === null) return []
      const replace: StoredSecret['replace'] = (trx, to) =>
        replaceCiphertext(trx, { table: 'webhook_endpoints', column, key: { id: row.id } }, { from: ciphertext, to })
      return [{ recordId: row.id, purpose: purposeOf(row.id), ciphertext, replace }]
    }),
  )
}

/**
 * Decrypts the signing secret. It can be shown again, because a receiver that lost it could no longer verify webhooks.
 */
export async function revealSecret(
  { db, secrets }: Pick<Deps, 'db' | 'secrets'>,
  accountId: string,
  endpointId: string,
): Promise<{ secret: string }> {
  const row = await findEndpoint(db, accountId, endpointId)
  if (!row) throw endpointNotFound(endpointId)
  const secret = tryDecryptCached(secrets, row.secretEncrypted, endpointSecretPurpose(endpointId))
  if (secret === undefined)
    throw new ServiceError('SETTING_REFUSED', errorFacts.unreadableSecret(), {
      remedy: `Create a new one: waybill webhook rotate-secret ${endpointId}`,
    })
  return { secret }
}

const defaultOverlapSeconds = 24 * 60 * 60
const longestOverlapSeconds = 30 * 24 * 60 * 60

/**
 * Creates a new secret. The previous one also signs for `overlapSeconds`, so that receivers can switch in the meantime.
 * Older ones stop immediately, and so does one that cannot be decrypted: with it, every attempt would fail.
 */
export async function rotateSecret(
  deps: Pick<Deps, 'db' | 'now' | 'secrets' | 'randomBytes'>,
  accountId: string,
  endpointId: string,
  { overlapSeconds = defaultOverlapSeconds }: { overlapSeconds?: number | undefined } = {},
): Promise<OutputOf<typeof contract>> {
  if (!(overlapSeconds >= 0 && overlapSeconds <= longestOverlapSeconds))
    throw new ServiceError(
      'SETTING_REFUSED',
      'The overlap can be at most 30 days. Use a shorter overlap, such as 24h or 0s.',
    )
  const secret = generateSecret(deps.randomBytes)
  const purpose = endpointSecretPurpose(endpointId)
  const encrypted = deps.secrets.encrypt(secret, purpose)
  const until = await deps.db.transaction().execute(async (trx) => {
    const row = await lockEndpoint(trx, accountId, endpointId)
    if (!row) throw endpointNotFound(endpointId)
    const isKept = overlapSeconds > 0 && tryDecryptCached(deps.secrets, row.secretEncrypted, purpose) !== undefined
    const until = isKept ? new Date(deps.now().getTime() + overlapSeconds * 1000) : null
    await changeEndpoint(trx, accountId, endpointId, {
      secretEncrypted: encrypted,
      previousSecretEncrypted: until && row.secretEncrypted,
      previousSecretExpiresAt: until,
    })
    return until
  })
  return { secret, ...(until && { previousSecretUntil: until.toISOString() }) }
}

/** Returns null if there are no headers. */
export function encryptHeaders(box: SecretBox, endpointId: string, headers: Record<string, string>): string | null {
  if (Object.keys(headers).length === 0) return null
  return box.encrypt(JSON.stringify(headers), endpointHeadersPurpose(endpointId))
}

/** The decrypted values that an attempt needs. They must not be shown to anyone. */
export interface DecryptedEndpoint {
  headers: Record<string, string>
  /** Each secret adds a signature. After a rotation, the previous one is included until it expires. */
  secrets: string[]
}

type EncryptedEndpoint = Pick<
  EndpointRow,
  'headersEncrypted' | 'secretEncrypted' | 'previousSecretEncrypted' | 'previousSecretExpiresAt'
>

/** Returns the failure of every attempt if no key decrypts a secret or the headers. A new secret does not repair headers. */
export function decryptEndpoint(
  box: SecretBox,
  endpointId: string,
  row: EncryptedEndpoint,
  now: Date,
): DecryptedEndpoint | { unreadable: AttemptResult } {
  const { headersEncrypted, previousSecretEncrypted: previous, previousSecretExpiresAt: expiresAt } = row
  const purpose = endpointSecretPurpose(endpointId)
  const secret = tryDecryptCached(box, row.secretEncrypted, purpose)
  const stillSigns = previous !== null && expiresAt !== null && expiresAt > now
  const previousSecret = stillSigns ? tryDecryptCached(box, previous, purpose) : undefined
  if (secret === undefined || (stillSigns && previousSecret === undefined))
    return toUnreadable(deliveryFailures.unreadableSecret())
  const secrets = previousSecret === undefined ? [secret] : [secret, previousSecret]
  if (headersEncrypted === null) return { headers: {}, secrets }
  const headers = tryDecryptCached(box, headersEncrypted, endpointHeadersPurpose(endpointId))
  if (headers === undefined) return toUnreadable(deliveryFailures.unreadableHeaders())
  return { headers: parseHeaders(headers), secrets }
}

function toUnreadable(error: Fact): { unreadable: AttemptResult } {
  return { unreadable: { outcome: 'failed', error, durationMilliseconds: 0 } }
}

function parseHeaders(json: string): Record<string, string> {
  // Safe cast: `encryptHeaders` wrote this text.
  return JSON.parse(json) as Record<string, string>
}
