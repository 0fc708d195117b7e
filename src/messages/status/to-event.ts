import type { MessageEvent } from '../../../contracts/events.ts'
import type { MessageRow } from '../store.ts'
import type { MessageState } from './advance.ts'

/** The event that a message has reached this status, as its webhook tells it; undefined for `pending`. */
export function toEvent(message: MessageRow, state: MessageState, at: Date): MessageEvent | undefined {
  const timestamp = at.toISOString()
  const factsWith = <Status extends string>(status: Status) => ({
    messageId: message.id,
    waMessageId: state.waMessageId ?? '',
    status,
    to: message.to_number,
    template: message.template_name,
    language: message.template_language,
    accountId: message.whatsapp_account_id,
    ...(message.external_id !== null && { externalId: message.external_id }),
  })
  switch (state.status) {
    case 'pending':
      return undefined
    case 'sent':
      return { type: 'message.sent', timestamp, data: factsWith('sent') }
    case 'delivered':
      return { type: 'message.delivered', timestamp, data: factsWith('delivered') }
    case 'read':
      return { type: 'message.read', timestamp, data: factsWith('read') }
    case 'failed':
      return {
        type: 'message.failed',
        timestamp,
        data: {
          ...factsWith('failed'),
          error: state.error ?? { code: 'UNKNOWN', message: 'WhatsApp gave no reason' },
        },
      }
  }
}
