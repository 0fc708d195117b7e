import type { SendMessageRequest } from '../../contracts/api/message.ts'

/** The load generator replaces this with seven different digits in each request. */
export const varying = '#######'

/** The send request for every side, with a different recipient and reference each time. */
export const example: SendMessageRequest = {
  to: `3460${varying}`,
  template: 'order_shipped',
  language: 'en',
  variables: { '1': 'Ada', '2': 'WB-1042' },
  externalId: `order-${varying}`,
}

export const templateComponents = [
  { type: 'BODY', text: 'Hello {{1}}, your order {{2}} is on its way.', example: { body_text: [['Ada', 'A-1024']] } },
  { type: 'FOOTER', text: 'Waybill Demo Shop' },
]
