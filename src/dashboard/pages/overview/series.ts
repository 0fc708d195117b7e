import type { Totals } from './totals.ts'

export type State = keyof Totals

export const states = ['sent', 'delivered', 'read', 'failed'] as const satisfies State[]

export const stateNames = {
  sent: 'Sent',
  delivered: 'Delivered',
  read: 'Read',
  failed: 'Failed',
} satisfies Record<State, string>
