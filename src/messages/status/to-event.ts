import type { MessageEvent } from '../../../contracts/events.ts'
import { explainFailure } from '../../whatsapp/failure-advice.ts'
import type { StoredMessage } from '../columns.ts'
import { toMessageFacts } from '../message.ts'

/**
 * Returns the webhook events for a change of the status. A message that is read first has been delivered: the delivery is
 * reported too, before it.
 */
export function toEvents(before: StoredMessage, message: StoredMessage, at: Date): MessageEvent[] {
  const event = toEvent(message, at)
  if (!event) return []
  return message.status === 'read' && before.status !== 'delivered' ? [toImpliedDelivery(message, at), event] : [event]
}

function toImpliedDelivery(message: StoredMessage, at: Date): MessageEvent {
  const { id: messageId, waMessageId } = message
  return {
    type: 'message.delivered',
    timestamp: at.toISOString(),
    data: {
      messageId,
      waMessageId: waMessageId ?? '',
      status: 'delivered',
      implied: true,
      ...toMessageFacts(message),
    },
  }
}

/** Returns the webhook event for the current status of a message; undefined for `pending`. */
function toEvent(message: StoredMessage, at: Date): MessageEvent | undefined {
  const timestamp = at.toISOString()
  const dataWith = <Status extends string>(status: Status) => ({
    messageId: message.id,
    waMessageId: message.waMessageId ?? '',
    status,
    ...toMessageFacts(message),
  })
  switch (message.status) {
    case 'pending':
      return undefined
    case 'sent':
      return { type: 'message.sent', timestamp, data: dataWith('sent') }
    case 'delivered':
      return { type: 'message.delivered', timestamp, data: dataWith('delivered') }
    case 'read':
      return { type: 'message.read', timestamp, data: dataWith('read') }
    case 'failed': {
      const { errorCode: code, errorMessage } = message
      const error =
        code === null
          ? { code: 'UNKNOWN', message: 'WhatsApp gave no reason' }
          : { code, message: explainFailure(code, errorMessage ?? '') }
      return { type: 'message.failed', timestamp, data: { ...dataWith('failed'), error } }
    }
  }
}

/** Reported once for a message that stays pending. */
export function toUnknownOutcomeEvent(message: StoredMessage, at: Date): MessageEvent {
  return {
    type: 'message.outcome_unknown',
    timestamp: at.toISOString(),
    data: { messageId: message.id, status: 'pending', ...toMessageFacts(message) },
  }
}
