import type { HealthFinding } from '../../../../contracts/api/account.ts'
import { translateServerText } from '../../language/server-text.ts'

/** Translates a finding's message and fix. */
export function describeFinding({ message, fix }: HealthFinding): Pick<HealthFinding, 'message' | 'fix'> {
  return { message: translateServerText(message), fix: translateServerText(fix) }
}
