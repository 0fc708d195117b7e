import type { Message } from '../../contracts/api/message.ts'
import { arrayOf } from '../platform/db/statement.ts'
import type { MessageRow } from './store.ts'

/** A row, as callers see it. */
export function toMessage(row: MessageRow): Message {
  return {
    messageId: row.id,
    ...(row.wa_message_id !== null && { waMessageId: row.wa_message_id }),
    status: row.status,
    to: row.to_number,
    template: row.template_name,
    language: row.template_language,
    accountId: row.whatsapp_account_id,
    ...(row.external_id !== null && { externalId: row.external_id }),
    createdAt: row.created_at.toISOString(),
    ...(row.sent_at !== null && { sentAt: row.sent_at.toISOString() }),
    ...(row.delivered_at !== null && { deliveredAt: row.delivered_at.toISOString() }),
    ...(row.read_at !== null && { readAt: row.read_at.toISOString() }),
    ...(row.failed_at !== null && { failedAt: row.failed_at.toISOString() }),
    ...(row.error_code !== null && { error: { code: row.error_code, message: row.error_message ?? '' } }),
  }
}

/** A message as it is recorded, before WhatsApp hears of it. */
export interface PendingMessage {
  id: string
  accountId: string
  whatsAppAccountId: string
  to: string
  template: string
  language: string
  externalId: string | undefined
  createdAt: Date
  /** An endpoint wants to be told that it is sent. */
  emitSentEvent: boolean
}

/** The values of a message in the order in which statements take them. */
export function valuesOf(message: PendingMessage): unknown[] {
  const { accountId, id, whatsAppAccountId, to, template, language, externalId, createdAt } = message
  return [accountId, id, whatsAppAccountId, to, template, language, externalId ?? null, createdAt]
}

/** The same of many messages: an array for each column. */
export function columnsOf(messages: readonly PendingMessage[]): unknown[] {
  return [
    arrayOf(messages, ({ accountId }) => accountId),
    arrayOf(messages, ({ id }) => id),
    arrayOf(messages, ({ whatsAppAccountId }) => whatsAppAccountId),
    arrayOf(messages, ({ to }) => to),
    messages.map(({ template }) => template),
    messages.map(({ language }) => language),
    messages.map(({ externalId }) => externalId ?? null),
    arrayOf(messages, ({ createdAt }) => createdAt),
  ]
}
