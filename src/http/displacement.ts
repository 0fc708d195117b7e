import type { RecordDisplacement } from '../whatsapp-accounts/displace.ts'
import type { Deps } from '../deps.ts'
import { auditDisplacementIn } from '../users/audit/displacement.ts'
import { reportDisplacementIn } from '../webhooks/alerts/displacement.ts'

/** Records that an account lost a phone number, in its audit log and as a webhook event. */
export function recordDisplacementIn(deps: Deps): RecordDisplacement {
  return async (trx, displaced) => {
    await auditDisplacementIn(deps)(trx, displaced)
    await reportDisplacementIn(deps)(trx, displaced)
  }
}
