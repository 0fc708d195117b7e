import type { Message } from '../../contracts/api/message.ts'
import { explainFailure } from '../whatsapp/failure-advice.ts'
import type { RecordedMessage, StoredMessage } from './columns.ts'
import { isUserId } from './recipients/plan.ts'

/** A message as callers see it. */
export function toMessage(message: StoredMessage): Message {
  const { waMessageId, sentAt, deliveredAt, readAt, failedAt, errorCode, errorMessage } = message
  return {
    messageId: message.id,
    ...(waMessageId !== null && { waMessageId }),
    status: message.status,
    ...toMessageFacts(message),
    createdAt: message.createdAt.toISOString(),
    ...(sentAt !== null && { sentAt: sentAt.toISOString() }),
    ...(deliveredAt !== null && { deliveredAt: deliveredAt.toISOString() }),
    ...(readAt !== null && { readAt: readAt.toISOString() }),
    ...(failedAt !== null && { failedAt: failedAt.toISOString() }),
    ...(errorCode !== null && { error: { code: errorCode, message: explainFailure(errorCode, errorMessage ?? '') } }),
  }
}

/** What a message is and whom it is for: part of the message in the API and of every event. */
export function toMessageFacts({ to, template, language, whatsAppAccountId, externalId, waId, userId }: StoredMessage) {
  return {
    to,
    ...(isUserId(to) && { recipient: to, userId: to }),
    ...(waId !== null && { waId }),
    ...(userId !== null && { userId }),
    template,
    language,
    accountId: whatsAppAccountId,
    ...(externalId !== null && { externalId }),
  }
}

/** A message as it is recorded before it is sent to WhatsApp. */
export interface PendingMessage extends RecordedMessage {
  /** An endpoint subscribes to `message.sent`. */
  emitSentEvent: boolean
  /** The message content, encrypted, if the account stores contents. */
  contentEncrypted?: string | undefined
}
