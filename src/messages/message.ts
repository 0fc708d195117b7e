import type { Selectable } from 'kysely'
import type { Message } from '../../contracts/api/message.ts'
import type { ColumnType } from '../platform/db/columns.ts'
import type { Database } from '../platform/db/schema.ts'
import { explainFailure } from '../whatsapp/failure-advice.ts'
import { isUserId } from './recipients/plan-identities.ts'

type Row = Selectable<Database['messages']>
type MessageColumns = Record<string, { name: keyof Row; type: ColumnType }>
type FieldsOf<List extends MessageColumns> = { -readonly [Field in keyof List]: Row[List[Field]['name']] }

/** Written when a message is recorded, and never changed. */
export const recordedColumns = {
  accountId: { name: 'account_id', type: 'word' },
  id: { name: 'id', type: 'word' },
  whatsAppAccountId: { name: 'whatsapp_account_id', type: 'word' },
  to: { name: 'to_number', type: 'word' },
  template: { name: 'template_name', type: 'text' },
  language: { name: 'template_language', type: 'text' },
  externalId: { name: 'external_id', type: 'text' },
  createdAt: { name: 'created_at', type: 'timestamptz' },
} as const satisfies MessageColumns

/** Changed by WhatsApp's response and by statuses. */
export const stateColumns = {
  status: { name: 'status', type: 'word' },
  waMessageId: { name: 'wa_message_id', type: 'text' },
  sentAt: { name: 'sent_at', type: 'timestamptz' },
  deliveredAt: { name: 'delivered_at', type: 'timestamptz' },
  readAt: { name: 'read_at', type: 'timestamptz' },
  failedAt: { name: 'failed_at', type: 'timestamptz' },
  errorCode: { name: 'error_code', type: 'text' },
  errorMessage: { name: 'error_message', type: 'text' },
  pricing: { name: 'pricing', type: 'word' },
  waId: { name: 'wa_id', type: 'word' },
  userId: { name: 'user_id', type: 'word' },
} as const satisfies MessageColumns

/**
 * The column of each field of a message. Statements that record whole messages, apply statuses or read messages are built
 * from these lists, so a field that is added here is stored and read everywhere. A recorded column that cannot be null needs
 * a constant in `writeStates`, too.
 */
export const messageColumns = { ...recordedColumns, ...stateColumns } as const satisfies MessageColumns

export type RecordedMessage = FieldsOf<typeof recordedColumns>
export type MessageKey = Pick<RecordedMessage, 'accountId' | 'id'>
export type MessageState = FieldsOf<typeof stateColumns>
export type StoredMessage = RecordedMessage & MessageState

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
