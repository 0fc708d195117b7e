import type { HealthFinding } from '../../../../contracts/api/account.ts'
import { translateServerText } from '../../language/server-text.ts'

/** What a finding says, and what to do about it, in the language of the reader. */
export function describeFinding({ message, fix }: HealthFinding): Pick<HealthFinding, 'message' | 'fix'> {
  return { message: translateServerText(message), fix: translateServerText(fix) }
}
