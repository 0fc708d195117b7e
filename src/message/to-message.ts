import type { Message } from '../../contracts/message.ts'
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
