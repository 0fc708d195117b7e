import { ServiceError } from '../../../contracts/errors.ts'
import { deactivateRefused } from '../../accounts/whatsapp/refusals.ts'
import type { Deps } from '../../deps.ts'
import { changeTemplate } from '../../templates/store.ts'
import { syncWaba } from '../../templates/sync.ts'
import { explainFailure } from '../../whatsapp/failure-advice.ts'
import type { SendOutcome } from '../../whatsapp/whatsapp.ts'
import type { RecordedMessage } from '../columns.ts'
import { optedOutCode, suppressRejected } from '../suppressions/recipient-choices.ts'
import type { SendingAccount } from './decide.ts'
import { describeRejection, unknownOutcome } from './idempotency.ts'

/** What an outcome means for the message's row, and for its caller. */
export type SendResult =
  | { kind: 'sent'; waMessageId: string }
  /** `final`: a retry with the same idempotency key gets this answer again instead of sending. */
  | { kind: 'failed'; code: string; reason: string; final: boolean; answer: ServiceError }
  | { kind: 'pending'; answer: ServiceError }

const nothingSent = 'Nothing was sent.'

export function interpretOutcome(messageId: string, outcome: SendOutcome): SendResult {
  switch (outcome.kind) {
    case 'accepted':
      return { kind: 'sent', waMessageId: outcome.waMessageId }
    case 'refused':
      return interpretRefusal(outcome)
    case 'unavailable':
      return {
        kind: 'failed',
        code: 'WHATSAPP_UNAVAILABLE',
        reason: outcome.reason,
        final: false,
        answer: new ServiceError('WHATSAPP_UNAVAILABLE', `WhatsApp is unavailable: ${outcome.reason}. ${nothingSent}`, {
          retryAfterSeconds: outcome.retryAfterSeconds ?? 5,
        }),
      }
    case 'unknown':
      return { kind: 'pending', answer: unknownOutcome(messageId, `WhatsApp's answer is missing (${outcome.reason})`) }
  }
}

function interpretRefusal({ answer, error, retryAfterSeconds }: Extract<SendOutcome, { kind: 'refused' }>): SendResult {
  const code = String(error.code)
  // Our own sentence goes on behind it.
  const reason = (error.details ?? error.title).replace(/\.+$/, '')
  const explained = explainFailure(code, reason)
  const message = {
    MESSAGE_REJECTED: describeRejection(code, reason),
    TEMPLATE_NOT_FOUND: `WhatsApp does not know this template as approved (${code}): ${explained} ${nothingSent}`,
    NO_ACTIVE_ACCOUNT: `WhatsApp does not let this WhatsApp account send (${code}): ${explained} ${nothingSent}`,
    WHATSAPP_THROTTLED: `WhatsApp is throttling this sender (${code}): ${explained} ${nothingSent}`,
    WHATSAPP_UNAVAILABLE: `WhatsApp could not serve the request (${code}): ${explained} ${nothingSent}`,
  } satisfies Record<typeof answer, string>
  return {
    kind: 'failed',
    code,
    reason,
    final: answer === 'MESSAGE_REJECTED',
    answer: new ServiceError(answer, message[answer], { retryAfterSeconds }),
  }
}

/**
 * Marks the WhatsApp account, the template or the recipient that WhatsApp refused, so that the next send is refused here, with the
 * reason. Never fails the send that was refused.
 */
export async function applyRefusal(
  deps: Deps,
  message: RecordedMessage,
  from: SendingAccount,
  outcome: SendOutcome,
): Promise<void> {
  if (outcome.kind !== 'refused') return
  try {
    if (outcome.accountUnusable)
      await deactivateRefused(
        deps,
        { account_id: message.accountId, id: from.id, access_token_encrypted: from.accessTokenEncrypted },
        `WhatsApp refused it (${outcome.error.code}): ${outcome.error.details ?? outcome.error.title}`,
      )
    if (String(outcome.error.code) === optedOutCode) await suppressRejected(deps, message, deps.now())
    if (outcome.template === 'resync') resync(deps, message.accountId, from.wabaId)
    else if (outcome.template !== undefined)
      await changeTemplate(
        deps.db,
        { accountId: message.accountId, wabaId: from.wabaId, name: message.template, language: message.language },
        { status: outcome.template },
      )
  } catch (error) {
    deps.log.warn({ err: error, accountId: message.accountId }, 'could not apply WhatsApp’s rejection to the template')
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
