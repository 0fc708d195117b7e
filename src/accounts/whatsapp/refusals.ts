import type { Deps } from '../../deps.ts'
import type { AccountUpdate } from '../../whatsapp/callbacks/read-callback.ts'
import type { CallbackSender } from './callback-senders.ts'
import { scheduleCheck } from './health/store.ts'
import { changeWhatsAppAccount, reactivate, scheduleSync } from './store.ts'

/** Deactivates an account whose token WhatsApp rejected, until a user fixes it. `reason` is shown to users. */
export async function deactivateRefused(
  deps: Pick<Deps, 'db'>,
  accountId: string,
  whatsAppAccountId: string,
  reason: string,
): Promise<void> {
  await changeWhatsAppAccount(deps.db, accountId, whatsAppAccountId, { inactive_reason: reason })
}

/** Identifies a deactivation that ends when WhatsApp reinstates the account. */
const disabledBy = 'WhatsApp disabled the business account'

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
