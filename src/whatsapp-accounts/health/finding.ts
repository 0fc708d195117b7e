import type { HealthFinding } from '../../../contracts/api/account.ts'
import type { Fact, Sentence } from '../../../contracts/facts/fact.ts'

/** A problem of a WhatsApp account. What it says is made into sentences where it is read. */
export interface Finding extends Omit<HealthFinding, 'message' | 'fix'> {
  message: Fact
  /** A string is WhatsApp's own solution. */
  fix: Sentence
}
