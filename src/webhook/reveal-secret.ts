import type { Deps } from '../deps.ts'
import { findEndpoint } from './endpoint-store.ts'
import { noSuchEndpoint } from './endpoint.ts'
import { endpointSecretPurpose } from './secret-purposes.ts'

/** The one secret that comes back once it is stored: a receiver that lost it could verify nothing. */
export async function revealSecret(
  { db, secrets }: Pick<Deps, 'db' | 'secrets'>,
  accountId: string,
  endpointId: string,
): Promise<{ secret: string }> {
  const row = await findEndpoint(db, accountId, endpointId)
  if (!row) throw noSuchEndpoint(endpointId)
  return { secret: secrets.decrypt(row.secret_encrypted, endpointSecretPurpose(endpointId)) }
}
