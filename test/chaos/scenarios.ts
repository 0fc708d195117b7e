import type { Random } from './random.ts'

export type ReportedStatus = 'sent' | 'delivered' | 'read' | 'failed'

/** How WhatsApp handles a message. */
export interface Scenario {
  weight: number
  /** Error code returned instead of an acceptance: for every send or only for the first one. */
  refusal?: { code: number; httpStatus: number; only: 'always' | 'first' }
  /** `/marketing_messages` rejects the template; `/messages` accepts it. */
  isWrongEndpoint?: true
  /** Reported in this order, each after the previous one was acknowledged. */
  statuses: readonly ReportedStatus[]
}

/** Every accepted message has a status, so that its final outcome is known. */
const scenarios: readonly [Scenario, ...Scenario[]] = [
  { weight: 40, statuses: ['sent', 'delivered', 'read'] },
  { weight: 10, statuses: ['sent', 'delivered'] },
  { weight: 5, statuses: ['sent', 'read'] },
  { weight: 5, statuses: ['delivered', 'read'] },
  { weight: 8, statuses: ['sent', 'failed'] },
  { weight: 3, statuses: ['failed'] },
  { weight: 5, statuses: ['sent', 'failed', 'delivered'] },
  { weight: 3, statuses: ['failed', 'sent', 'delivered'] },
  { weight: 6, statuses: ['read', 'delivered', 'sent'] },
  { weight: 5, statuses: ['sent', 'sent', 'delivered', 'delivered', 'sent', 'read', 'read'] },
  { weight: 5, refusal: { code: 131026, httpStatus: 400, only: 'always' }, statuses: [] },
  { weight: 3, refusal: { code: 131056, httpStatus: 400, only: 'first' }, statuses: ['sent', 'delivered'] },
  { weight: 30, isWrongEndpoint: true, statuses: ['sent', 'delivered'] },
  { weight: 2, refusal: { code: 131016, httpStatus: 500, only: 'first' }, statuses: ['sent', 'delivered'] },
]

/** The error code of a `failed` status. */
export const failureCode = 131026

/** A unique recipient. The fourth and fifth digit select how WhatsApp handles the message. */
export function chooseRecipient(random: Random, number: number): string {
  const weights = Object.fromEntries(scenarios.map(({ weight }, index) => [String(index), weight]))
  return `491${random.weighted(weights).padStart(2, '0')}${String(number).padStart(8, '0')}`
}

export function scenarioOf(to: string): Scenario {
  return scenarios[Number(to.slice(3, 5))] ?? scenarios[0]
}

/** Half of the recipients get a marketing template, which has an endpoint of its own. */
export function templateOf(to: string): string {
  return Number(to.at(-1)) % 2 === 0 ? 'order_shipped' : 'autumn_offer'
}
