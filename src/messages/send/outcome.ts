import { ServiceError } from '../../../contracts/errors.ts'
import { explainFailure } from '../../whatsapp/failure-advice.ts'
import type { WhatsAppIdentity } from '../../whatsapp/callbacks/read-identity.ts'
import type { SendOutcome } from '../../whatsapp/whatsapp.ts'
import { describeRejection, unknownOutcome } from './responses.ts'

/** What an outcome means for the stored message and for the caller. */
export type SendResult =
  | { kind: 'sent'; waMessageId: string; recipient: WhatsAppIdentity | undefined }
  /** `final`: a retry with the same idempotency key gets this error again instead of sending. */
  | { kind: 'failed'; code: string; reason: string; final: boolean; error: ServiceError }
  | { kind: 'pending'; error: ServiceError }

const nothingSent = 'Nothing was sent.'

export function interpretOutcome(messageId: string, outcome: SendOutcome): SendResult {
  switch (outcome.kind) {
    case 'accepted':
      return { kind: 'sent', waMessageId: outcome.waMessageId, recipient: outcome.recipient }
    case 'refused':
      return interpretRefusal(messageId, outcome)
    case 'unavailable':
      return {
        kind: 'failed',
        code: 'WHATSAPP_UNAVAILABLE',
        reason: outcome.reason,
        final: false,
        error: new ServiceError('WHATSAPP_UNAVAILABLE', `WhatsApp is unavailable: ${outcome.reason}. ${nothingSent}`, {
          retryAfterSeconds: outcome.retryAfterSeconds ?? 5,
          messageId,
          failureCode: 'WHATSAPP_UNAVAILABLE',
        }),
      }
    case 'unknown':
      return { kind: 'pending', error: unknownOutcome(messageId, `WhatsApp's answer is missing (${outcome.reason})`) }
  }
}

function interpretRefusal(
  messageId: string,
  { errorCode, error, retryAfterSeconds }: Extract<SendOutcome, { kind: 'refused' }>,
): SendResult {
  const code = String(error.code)
  // Without its period, because our own text continues the sentence.
  const reason = (error.details ?? error.title).replace(/\.+$/, '')
  const explained = explainFailure(code, reason)
  const messages = {
    MESSAGE_REJECTED: describeRejection(code, reason),
    TEMPLATE_NOT_FOUND: `WhatsApp does not know this template as approved (${code}): ${explained} ${nothingSent}`,
    NO_ACTIVE_ACCOUNT: `WhatsApp does not let this WhatsApp account send (${code}): ${explained} ${nothingSent}`,
    WHATSAPP_THROTTLED: `WhatsApp is throttling this sender (${code}): ${explained} ${nothingSent}`,
    WHATSAPP_UNAVAILABLE: `WhatsApp could not serve the request (${code}): ${explained} ${nothingSent}`,
  } satisfies Record<typeof errorCode, string>
  return {
    kind: 'failed',
    code,
    reason,
    final: errorCode === 'MESSAGE_REJECTED',
    error: new ServiceError(errorCode, messages[errorCode], { retryAfterSeconds, messageId, failureCode: code }),
  }
}
