import type { Deps } from '../../deps.ts'
import type { AccountUpdate } from '../../whatsapp/callbacks/read-callback.ts'
import type { CallbackSender } from './callback-senders.ts'
import { changeWhatsAppAccount, reactivate, scheduleSync } from './store.ts'

/** WhatsApp refused the token: no send is tried until the owner acts. `reason` is kept for them to read. */
export async function deactivateRefused(
  deps: Pick<Deps, 'db'>,
  accountId: string,
  whatsAppAccountId: string,
  reason: string,
): Promise<void> {
  await changeWhatsAppAccount(deps.db, accountId, whatsAppAccountId, { inactive_reason: reason })
}

/** How we recognise a refusal that WhatsApp takes back when it reinstates the account. */
const disabledBy = 'WhatsApp disabled the business account'

/** Follows what WhatsApp says of a WhatsApp Business Account. The poll that follows is the truth. */
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
}
