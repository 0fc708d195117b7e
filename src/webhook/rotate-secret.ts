import { OperatorError } from '../account/operator-error.ts'
import type { Deps } from '../deps.ts'
import { changeEndpoint, lockEndpoint } from './endpoint-store.ts'
import { noSuchEndpoint } from './endpoint.ts'
import { generateSecret } from './generate-secret.ts'
import { endpointSecretPurpose } from './secret-purposes.ts'

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
    throw new OperatorError('Two secrets can sign for 30 days at most. Give a shorter overlap, such as 24h, or 0s.')
  const secret = generateSecret(deps.randomBytes)
  const sealed = deps.secrets.encrypt(secret, endpointSecretPurpose(endpointId))
  const until = overlapSeconds > 0 ? new Date(deps.now().getTime() + overlapSeconds * 1000) : null
  await deps.db.transaction().execute(async (trx) => {
    const row = await lockEndpoint(trx, accountId, endpointId)
    if (!row) throw noSuchEndpoint(endpointId)
    await changeEndpoint(trx, accountId, endpointId, {
      secret_encrypted: sealed,
      previous_secret_encrypted: until && row.secret_encrypted,
      previous_secret_expires_at: until,
    })
  })
  return { secret, ...(until && { previousSecretUntil: until.toISOString() }) }
}
