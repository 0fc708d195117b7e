import type { Selectable } from 'kysely'
import type { ColumnType } from '../platform/db/columns.ts'
import type { MessagesTable } from '../platform/db/schema.ts'

type Row = Selectable<MessagesTable>
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
 * from these lists, so a field that is added here is stored and read everywhere.
 */
export const messageColumns = { ...recordedColumns, ...stateColumns } as const satisfies MessageColumns

export type RecordedMessage = FieldsOf<typeof recordedColumns>
export type MessageState = FieldsOf<typeof stateColumns>
export type StoredMessage = RecordedMessage & MessageState
