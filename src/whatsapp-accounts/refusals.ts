import type { Deps } from '../deps.ts'
import type { WhatsAppError } from '../whatsapp/read-outcome.ts'
import { scheduleCheck } from './health/store.ts'
import { rejectedWith } from './inactive-reason.ts'
import { markRejected, type WhatsAppAccountRow } from './store.ts'

/**
 * Deactivates an account whose token WhatsApp rejected, until a user fixes it. Does nothing if the token was replaced
 * in the meantime. An earlier reason is kept.
 */
export async function deactivateRefused(
  { db }: Pick<Deps, 'db'>,
  rejected: Pick<WhatsAppAccountRow, 'account_id' | 'id' | 'access_token_encrypted'>,
  error: WhatsAppError,
): Promise<void> {
  if (!(await markRejected(db, rejected, rejectedWith(error)))) return
  await scheduleCheck(db, { accountId: rejected.account_id, whatsAppAccountId: rejected.id })
}
