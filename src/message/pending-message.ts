import { arrayOf } from '../db/array-of.ts'

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
  tellsSent: boolean
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
