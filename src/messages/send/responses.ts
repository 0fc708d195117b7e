import type { SentMessage } from '../../../contracts/api/message.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import { explainFailure } from '../../whatsapp/failure-advice.ts'
import type { RecordedMessage, StoredMessage } from '../message.ts'
import { isUserId } from '../recipients/plan-identities.ts'

/**
 * WhatsApp rejected a message without a wamid immediately; it accepted one with a wamid and reported the failure later.
 */
export function describeFailure({ waMessageId, errorCode, errorMessage }: StoredMessage): string {
  if (waMessageId === null) return describeRejection(errorCode, errorMessage)
  return `WhatsApp reported that this message failed${inParentheses(errorCode)}: ${explain(errorCode, errorMessage)}`
}

export function toSentMessage(message: RecordedMessage, waMessageId: string): SentMessage {
  const { id, to, template, externalId } = message
  return {
    messageId: id,
    waMessageId,
    status: 'sent',
    to,
    ...(isUserId(to) && { recipient: to, userId: to }),
    template,
    ...(externalId !== null && { externalId }),
  }
}

export function describeRejection(code: string | null, reason: string | null): string {
  return `WhatsApp rejected this message${inParentheses(code)}: ${explain(code, reason)}`
}

function inParentheses(code: string | null): string {
  return code === null ? '' : ` (${code})`
}

/** WhatsApp's reason, and what to do about it. */
function explain(code: string | null, reason: string | null): string {
  return explainFailure(code ?? '', reason || 'no reason was given')
}

/** `why` is the first clause of the error message. */
export function unknownOutcome(messageId: string, why: string, options: { replayed?: boolean } = {}): ServiceError {
  return new ServiceError(
    'SEND_OUTCOME_UNKNOWN',
    `${why}, so message ${messageId} may have been sent. It stays pending until the status webhook settles it. A retry with the same Idempotency-Key never sends twice; one without it may.`,
    { ...options, messageId },
  )
}
