import { messageColumns, type StoredMessage } from '../../src/messages/message.ts'

export type Field = keyof typeof messageColumns
const fields = Object.keys(messageColumns) as Field[]

export const failed: StoredMessage = {
  accountId: 'acc_1',
  id: 'msg_1',
  whatsAppAccountId: 'wa_1',
  to: '34600111222',
  template: 'order_shipped',
  language: 'en',
  externalId: 'order-1042',
  createdAt: new Date('2026-11-20T09:30:00Z'),
  status: 'failed',
  waMessageId: 'wamid.1',
  sentAt: new Date('2026-11-20T09:31:00Z'),
  deliveredAt: new Date('2026-11-20T09:32:00Z'),
  readAt: new Date('2026-11-20T09:33:00Z'),
  failedAt: new Date('2026-11-20T09:34:00Z'),
  errorCode: '131026',
  errorMessage: 'Message undeliverable',
  pricing: 'utility',
  waId: '5215551234567',
  userId: 'ES.2041776300912345',
}
/** Some views show the reason of a failure, others the delivery times. */
const samples = [failed, { ...failed, status: 'read' as const }]

function change(message: StoredMessage, field: Field): StoredMessage {
  const value = message[field]
  if (field === 'status') return { ...message, status: 'delivered' }
  return { ...message, [field]: value instanceof Date ? new Date(value.getTime() + 3_600_000) : `${value}9` }
}

/** Lists the fields whose value does not affect the output of a view of a message. */
export async function listMissing(show: (message: StoredMessage) => unknown): Promise<Field[]> {
  const showAll = (messages: readonly StoredMessage[]) =>
    Promise.all(messages.map(async (message) => JSON.stringify(await show(message))))
  const before = await showAll(samples)
  const missing: Field[] = []
  for (const field of fields) {
    const after = await showAll(samples.map((message) => change(message, field)))
    if (after.every((text, index) => text === before[index])) missing.push(field)
  }
  return missing
}
