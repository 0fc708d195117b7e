import { dayMilliseconds } from '../../../../contracts/time.ts'
import type { SimulatedNumber, SimulatorState } from '../state.ts'

/**
 * Counts a person as addressed, and returns whether the messaging limit leaves room for the person (autumn reference,
 * section 3.2). No customer service window of a simulated number is ever open.
 */
export function address(state: SimulatorState, { wabaId, messagingLimit }: SimulatedNumber, userId: string): boolean {
  const now = state.now()
  const recent = [...(state.addressed.get(wabaId) ?? [])].filter(([, at]) => now - at < dayMilliseconds)
  const addressed = new Map(recent)
  state.addressed.set(wabaId, addressed)
  if (!addressed.has(userId) && addressed.size >= readLimit(messagingLimit)) return false
  addressed.set(userId, now)
  return true
}

function readLimit(messagingLimit: string): number {
  const [, digits, thousand] = /^TIER_(\d+)(K?)$/.exec(messagingLimit) ?? []
  return digits === undefined ? Infinity : Number(digits) * (thousand === 'K' ? 1000 : 1)
}
