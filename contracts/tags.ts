/** The groups in which the procedures are shown. */
export const tags = {
  Messages: 'Send approved template messages, and read their statuses.',
  Templates: 'The templates that WhatsApp keeps for the account, and the variables that each one needs.',
  Events: 'The events that webhooks report.',
  Webhooks: 'What Waybill sends to the endpoints of the account, as soon as it happens.',
} as const

export type Tag = keyof typeof tags
