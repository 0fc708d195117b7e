import { t } from '@lingui/core/macro'
import type { Addressed, HealthFinding } from '../../../../contracts/api/account.ts'
import type { Facts } from '../../../../contracts/facts/fact.ts'
import { say } from '../../language/facts.ts'
import { formatNumber } from '../../language/format.ts'

/** With the facts behind its sentences. */
export type FindingWithFacts = HealthFinding & { facts?: Facts | undefined }

/** A finding's message and fix in the language of the reader. */
export function describeFinding(finding: FindingWithFacts): Pick<HealthFinding, 'message' | 'fix'> {
  return { message: say(finding, 'message'), fix: say(finding, 'fix') }
}

/** How much of the messaging limit of a business portfolio is used, such as `180 of 250 people in 24 hours`. */
export function describeAddressed({ people, limit, complete }: Addressed): string {
  const [used, all] = [formatNumber(people), formatNumber(limit)]
  return complete ? t`${used} of ${all} people in 24 hours` : t`At least ${used} of ${all} people in 24 hours`
}
