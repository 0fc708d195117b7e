import { findings } from '../../../contracts/facts/findings.ts'
import type { FactParam } from '../../../contracts/facts/fact.ts'
import type { StoredReach } from '../../platform/db/schema.ts'
import type { Finding } from './finding.ts'

const facts = findings.messagingLimit

/**
 * How many people a business portfolio may address in 24 hours; undefined if that is unlimited or not known. WhatsApp
 * names tiers such as `TIER_250` and `TIER_2K`, and adds more at any time.
 */
export function readLimit(messagingLimit: string | null | undefined): number | undefined {
  const [, digits, thousand] = /^TIER_(\d{1,9})(K?)$/.exec(messagingLimit ?? '') ?? []
  return digits === undefined ? undefined : Number(digits) * (thousand === 'K' ? 1000 : 1)
}

/** The same in SQL, as a condition. */
export const limitedPattern = '^TIER_[0-9]{1,9}K?$'

/** The shares of the limit that are reported. */
export const nearPercent = 80

export interface MessagingLimitFacts {
  messagingLimit?: string | undefined
  reach?: StoredReach | undefined
}

export function findMessagingLimit({ messagingLimit, reach }: MessagingLimitFacts): Finding[] {
  const limit = readLimit(messagingLimit)
  if (limit === undefined || !reach || reach.people * 100 < limit * nearPercent) return []
  const people = countPeople(reach)
  const finding = { severity: 'warning', blocksSending: false } as const
  return reach.people >= limit
    ? [{ ...finding, code: 'messaging_limit_reached', message: facts.reached({ people, limit }), fix: facts.wait() }]
    : [{ ...finding, code: 'messaging_limit_near', message: facts.near({ people, limit }), fix: facts.spread() }]
}

export function countPeople({ people, isComplete }: Pick<StoredReach, 'people' | 'isComplete'>): FactParam {
  return isComplete ? people : facts.atLeast({ people })
}
