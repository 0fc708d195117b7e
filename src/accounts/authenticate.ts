import { ServiceError } from '../../contracts/errors.ts'
import type { Deps } from '../deps.ts'
import { hashApiKey, isApiKey } from './api-key.ts'
import { findCaller } from './caller-store.ts'
import { normalizeAddress } from './ip-allow-list.ts'
import type { Budget } from './rate-limit.ts'

/** Who asks. Every query of a procedure is limited to this account. */
export interface Caller {
  accountId: string
}

export interface Credentials {
  /** The value of `X-API-Key`, if there was one. */
  apiKey: string | undefined
  /** Its hash, where it was made already. */
  keyHash?: Uint8Array | undefined
  /** The address the request came from. */
  address: string
}

/**
 * Key, then enabled, then address (spec, Authentication). With `spend`, one request of the account's
 * minute is spent, and what is left of it is returned for `assertWithinBudget`.
 */
export async function authenticate(
  deps: Pick<Deps, 'db'>,
  { apiKey, keyHash = hashWellFormed(apiKey), address }: Credentials,
  { spend }: { spend: boolean },
): Promise<{ caller: Caller; budget: Budget | undefined }> {
  if (apiKey === undefined || apiKey === '')
    throw new ServiceError('INVALID_API_KEY', 'An API key is required: send it in the X-API-Key header.')
  const row = keyHash && (await findCaller(deps.db, { keyHash, address: normalizeAddress(address), spend }))
  if (!row) throw new ServiceError('INVALID_API_KEY', 'Invalid API key.')
  if (!row.api_enabled) throw new ServiceError('API_DISABLED', 'API access is disabled for this account.')
  if (!row.address_allowed)
    throw new ServiceError(
      'IP_NOT_ALLOWED',
      'Requests from this address are not allowed: it is not on the IP allow-list of this account.',
    )
  const budget =
    row.used === null || row.reset_seconds === null
      ? undefined
      : { limit: row.rate_limit_per_minute, used: row.used, resetSeconds: row.reset_seconds }
  return { caller: { accountId: row.account_id }, budget }
}

function hashWellFormed(apiKey: string | undefined): Uint8Array | undefined {
  return apiKey !== undefined && isApiKey(apiKey) ? hashApiKey(apiKey) : undefined
}
