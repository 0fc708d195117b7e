import { scheduleCheckAfterRefusal } from '../../whatsapp-accounts/health/store.ts'
import { deactivateRefused } from '../../whatsapp-accounts/refusals.ts'
import type { Deps } from '../../deps.ts'
import { changeTemplate } from '../../templates/store.ts'
import { syncWaba } from '../../templates/sync.ts'
import type { SendOutcome } from '../../whatsapp/whatsapp.ts'
import type { RecordedMessage } from '../columns.ts'
import { optedOutCode, suppressRejected } from '../suppressions/recipient-choices.ts'
import type { SendingAccount } from './decide.ts'

type Refusal = Extract<SendOutcome, { kind: 'refused' }>

/**
 * Stores that WhatsApp rejected the account, the template or the recipient, so that Waybill rejects the next send
 * itself, with the reason. Logs its own failures instead of throwing, because the send already has its result.
 */
export async function applyRefusal(
  deps: Deps,
  message: RecordedMessage,
  from: SendingAccount,
  outcome: Refusal,
): Promise<void> {
  try {
    if (outcome.accountUnusable)
      await deactivateRefused(
        deps,
        { account_id: message.accountId, id: from.id, access_token_encrypted: from.accessTokenEncrypted },
        outcome.error,
      )
    if (outcome.checkAccount)
      await scheduleCheckAfterRefusal(deps.db, { accountId: message.accountId, whatsAppAccountId: from.id })
    if (String(outcome.error.code) === optedOutCode) await suppressRejected(deps, message, deps.now())
    if (outcome.template === 'resync') resync(deps, message.accountId, from.wabaId)
    else if (outcome.template !== undefined)
      await changeTemplate(
        deps.db,
        { accountId: message.accountId, wabaId: from.wabaId, name: message.template, language: message.language },
        { status: outcome.template },
      )
  } catch (error) {
    deps.log.warn({ err: error, accountId: message.accountId }, 'could not store the cause of a rejection by WhatsApp')
  }
}

/** Either the category of the template or the onboarding of the account has changed, and the next send should know it. */
export async function refreshRoute(
  deps: Deps,
  { accountId, id }: RecordedMessage,
  { id: whatsAppAccountId, wabaId }: SendingAccount,
  code: number,
): Promise<void> {
  deps.log.info({ messageId: id, code }, 'WhatsApp rejected the endpoint of a template, so the other one was used')
  resync(deps, accountId, wabaId)
  await scheduleCheckAfterRefusal(deps.db, { accountId, whatsAppAccountId }).catch((error: unknown) =>
    deps.log.warn({ err: error, accountId }, 'could not schedule a check of a WhatsApp account'),
  )
}

const resyncing = new Set<string>()

/** Runs in the background, and at most once at a time per WABA. */
function resync(deps: Deps, accountId: string, wabaId: string): void {
  const key = `${accountId} ${wabaId}`
  if (resyncing.has(key)) return
  resyncing.add(key)
  syncWaba(deps, accountId, wabaId)
    .catch((error: unknown) => deps.log.warn({ err: error, accountId }, 'could not sync the templates'))
    .finally(() => resyncing.delete(key))
}
