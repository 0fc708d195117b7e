/** The groups in which the procedures are shown. */
export const tags = {
  Messages: 'Send approved template messages, and ask what became of them.',
  Templates: 'The templates that WhatsApp keeps for the account, and the variables that each one needs.',
  Events: 'What became of the messages: the events that the webhooks tell.',
  Webhooks: 'What Waybill sends to the endpoints of the account, as soon as it happens.',
} as const

export type Tag = keyof typeof tags
