import type { ListSecrets } from '../account/stored-secret.ts'
import { listWhatsAppAccountSecrets } from '../account/whatsapp-account-secrets.ts'
import { listAuditKeys } from '../owner/audit-key.ts'
import { listAuthSecrets } from '../owner/auth-secret.ts'
import { listEndpointSecrets } from '../webhook/endpoint-secrets.ts'

/** Everything that is kept encrypted. */
export const listStoredSecrets: ListSecrets = async (db) => [
  ...(await listWhatsAppAccountSecrets(db)),
  ...(await listEndpointSecrets(db)),
  ...(await listAuthSecrets(db)),
  ...(await listAuditKeys(db)),
]
