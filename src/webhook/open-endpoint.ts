import type { SecretBox } from '../secret-box.ts'
import type { EndpointRow } from './endpoint-store.ts'
import { endpointHeadersPurpose, endpointSecretPurpose } from './secret-purposes.ts'

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
