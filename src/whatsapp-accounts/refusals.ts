import type { Deps } from '../deps.ts'
import { scheduleCheck } from './health/store.ts'
import { markRejected, type WhatsAppAccountRow } from './store.ts'

/**
 * Deactivates an account whose token WhatsApp rejected, until a user fixes it. Does nothing if the token was replaced
 * in the meantime. `reason` is shown to users; an earlier reason is kept.
 */
export async function deactivateRefused(
  { db }: Pick<Deps, 'db'>,
  rejected: Pick<WhatsAppAccountRow, 'account_id' | 'id' | 'access_token_encrypted'>,
  reason: string,
): Promise<void> {
  if (!(await markRejected(db, rejected, reason))) return
  await scheduleCheck(db, { accountId: rejected.account_id, whatsAppAccountId: rejected.id })
}
