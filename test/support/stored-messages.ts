import { sendMessage } from '../../contracts/api/message.ts'
import type { Deps } from '../../src/deps.ts'
import type { MessageState, PendingMessage, StoredMessage } from '../../src/messages/message.ts'

/** The state of a message before anything is known about its outcome. */
export const pendingState: MessageState = {
  status: 'pending',
  waMessageId: null,
  sentAt: null,
  deliveredAt: null,
  readAt: null,
  failedAt: null,
  errorCode: null,
  errorMessage: null,
  pricing: null,
  waId: null,
  userId: null,
}

/** A message that WhatsApp accepted at this time. */
export function sentMessageAt(at: Date): StoredMessage {
  return {
    ...pendingState,
    id: 'msg_1',
    accountId: 'acc_1',
    whatsAppAccountId: 'wa_1',
    to: '34600111222',
    template: 'order_shipped',
    language: 'en',
    externalId: null,
    createdAt: at,
    status: 'sent',
    waMessageId: 'wamid.x',
    sentAt: at,
  }
}

/** The example message, which is not recorded yet. */
export function newPendingMessage(
  deps: Pick<Deps, 'newId' | 'now'>,
  { accountId, whatsAppAccountId }: { accountId: string; whatsAppAccountId: string },
): PendingMessage {
  const { to = '', template, language } = sendMessage.example.input
  return {
    id: deps.newId('msg'),
    accountId,
    whatsAppAccountId,
    to,
    template,
    language,
    externalId: null,
    createdAt: deps.now(),
    emitSentEvent: false,
  }
}
