import { deactivateRefused } from '../../accounts/whatsapp/refusals.ts'
import type { Deps } from '../../deps.ts'
import { changeTemplate } from '../../templates/store.ts'
import { syncWaba } from '../../templates/sync.ts'
import type { SendOutcome } from '../../whatsapp/whatsapp.ts'
import type { PendingMessage } from '../message.ts'
import type { SendingAccount } from './decide.ts'

/**
 * What a refusal teaches about the WhatsApp account and the template, so that the next send is
 * refused here with the reason instead of there. Never fails the send that taught it.
 */
export async function applyRefusal(
  deps: Deps,
  message: PendingMessage,
  from: SendingAccount,
  outcome: SendOutcome,
): Promise<void> {
  if (outcome.kind !== 'refused') return
  try {
    if (outcome.accountUnusable)
      await deactivateRefused(
        deps,
        message.accountId,
        from.id,
        `WhatsApp refused it (${outcome.error.code}): ${outcome.error.details ?? outcome.error.title}`,
      )
    if (outcome.template === 'resync') resync(deps, message.accountId, from.wabaId)
    else if (outcome.template !== undefined)
      await changeTemplate(
        deps.db,
        { accountId: message.accountId, wabaId: from.wabaId, name: message.template, language: message.language },
        { status: outcome.template },
      )
  } catch (error) {
    deps.log.warn({ err: error, accountId: message.accountId }, 'what WhatsApp refused could not be written down')
  }
}

const resyncing = new Set<string>()

/** In the background, and once at a time for a WABA however many sends ask for it. */
function resync(deps: Deps, accountId: string, wabaId: string): void {
  const key = `${accountId} ${wabaId}`
  if (resyncing.has(key)) return
  resyncing.add(key)
  syncWaba(deps, accountId, wabaId)
    .catch((error: unknown) => deps.log.warn({ err: error, accountId }, 'the templates could not be synced'))
    .finally(() => resyncing.delete(key))
}
