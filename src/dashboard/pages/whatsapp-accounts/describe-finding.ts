import type { HealthFinding } from '../../../../contracts/api/account.ts'
import type { Facts } from '../../../../contracts/facts/fact.ts'
import { say } from '../../language/facts.ts'

/** With the facts behind its sentences. */
export type FindingWithFacts = HealthFinding & { facts?: Facts | undefined }

/** A finding's message and fix in the language of the reader. */
export function describeFinding(finding: FindingWithFacts): Pick<HealthFinding, 'message' | 'fix'> {
  return { message: say(finding, 'message'), fix: say(finding, 'fix') }
}
