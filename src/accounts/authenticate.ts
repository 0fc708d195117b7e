import { ServiceError } from '../../contracts/errors.ts'
import type { Deps } from '../deps.ts'
import { hashApiKey, isApiKey } from './api-key.ts'
import { type CallerRow, findCaller } from './authenticate-store.ts'
import { normalizeAddress } from './ip-allow-list.ts'
import type { MinuteUse } from './rate-limit.ts'
import { accountSuspended } from './account.ts'

/** The authenticated account. Every query of a procedure is limited to it. */
export interface Caller {
  accountId: string
  /** Throws if the caller has lost access since the request began, for requests that can take minutes. */
  assertStillAllowed?(): Promise<void>
}

export interface Credentials {
  /** The value of `X-API-Key`, if present. */
  apiKey: string | undefined
  /** Its hash, if it was already computed. */
  keyHash?: string | undefined
  /** The source address of the request. */
  address: string
}

export interface Authentication {
  caller: Caller
  minuteUse: MinuteUse | undefined
}

/**
 * Checks the key, then API access, then the address. With `spend`, the request counts towards
 * the rate limit, and the use of the minute is returned for `assertWithinRateLimit`. `recognized` gets the account of the key,
 * even if the request is then rejected for another reason. Not an async function, which would allocate three times as much.
 */
export function authenticate(
  deps: Pick<Deps, 'db'>,
  { apiKey, keyHash = hashWellFormed(apiKey), address }: Credentials,
  { spend, recognized }: { spend: boolean; recognized?: { accountId: string | undefined } },
): Promise<Authentication> {
  if (apiKey === undefined || apiKey === '')
    return Promise.reject(
      new ServiceError('INVALID_API_KEY', 'An API key is required: send it in the X-API-Key header.'),
    )
  if (keyHash === undefined) return Promise.reject(invalidKey())
  const normalized = normalizeAddress(address)
  return findCaller(deps.db, { keyHash, address: normalized, spend }).then((row) => {
    if (recognized && row) recognized.accountId = row.accountId
    return accept(row, normalized)
  })
}

/** Throws if the caller may not use the API. */
function accept(row: CallerRow | undefined, address: string | undefined): Authentication {
  if (!row) throw invalidKey()
  if (row.suspended) throw accountSuspended()
  if (!row.apiEnabled) throw new ServiceError('API_DISABLED', 'API access is disabled for this account.')
  if (!row.addressAllowed)
    throw new ServiceError(
      'IP_NOT_ALLOWED',
      `Requests from ${address ?? 'this address'} are not allowed: it is not on the IP allow-list of this account.`,
    )
  const { accountId, limit, used, resetSeconds } = row
  return {
    caller: { accountId },
    minuteUse: used === null || resetSeconds === null ? undefined : { limit, used, resetSeconds },
  }
}

function invalidKey(): ServiceError {
  return new ServiceError('INVALID_API_KEY', 'Invalid API key.')
}

function hashWellFormed(apiKey: string | undefined): string | undefined {
  return apiKey !== undefined && isApiKey(apiKey) ? hashApiKey(apiKey) : undefined
}
