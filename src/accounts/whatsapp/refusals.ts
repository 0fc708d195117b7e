import type { Deps } from '../../deps.ts'
import type { AccountUpdate } from '../../whatsapp/callbacks/read-callback.ts'
import type { CallbackSender } from './callback-senders.ts'
import { scheduleCheck } from './health/store.ts'
import {
  changeWhatsAppAccount,
  disabledBy,
  markRejected,
  reactivate,
  scheduleSync,
  type WhatsAppAccountRow,
} from './store.ts'

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

/** Applies a change that WhatsApp reported for a WhatsApp Business Account. The sync that follows is authoritative. */
export async function applyAccountUpdate(
  deps: Pick<Deps, 'db' | 'log'>,
  sender: CallbackSender,
  update: AccountUpdate,
): Promise<void> {
  const { accountId, whatsAppAccountId } = sender
  if (update.change === 'disabled') {
    deps.log.warn({ accountId, whatsAppAccountId, reason: update.reason }, 'WhatsApp disabled a business account')
    await changeWhatsAppAccount(deps.db, accountId, whatsAppAccountId, {
      inactive_reason: `${disabledBy} (${update.reason})`,
    })
  } else if (update.change === 'reinstated') {
    await reactivate(deps.db, accountId, whatsAppAccountId, disabledBy)
  }
  await scheduleSync(deps.db, accountId, sender.wabaId)
  await scheduleCheck(deps.db, { accountId, whatsAppAccountId })
}
