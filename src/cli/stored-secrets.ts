import type { ListSecrets } from '../accounts/rekey.ts'
import { listWhatsAppAccountSecrets } from '../whatsapp-accounts/secrets.ts'
import { listHashKeys } from '../messages/suppressions/number-key.ts'
import { listEmailSecrets } from '../platform/email/outbox.ts'
import { listAuditKeys } from '../users/audit/chain.ts'
import { listAuthSecrets } from '../users/sign-in/secret.ts'
import { listChatSecrets } from '../webhooks/alerts/chat/chat.ts'
import { listPostSecrets } from '../webhooks/alerts/chat/outbox.ts'
import { listEndpointSecrets } from '../webhooks/endpoints/secrets.ts'

/** Lists all encrypted values, except the contents of messages (`rekeyContents`). */
export const listStoredSecrets: ListSecrets = async (db) => [
  ...(await listWhatsAppAccountSecrets(db)),
  ...(await listEndpointSecrets(db)),
  ...(await listAuthSecrets(db)),
  ...(await listAuditKeys(db)),
  ...(await listEmailSecrets(db)),
  ...(await listChatSecrets(db)),
  ...(await listPostSecrets(db)),
  ...(await listHashKeys(db)),
]
