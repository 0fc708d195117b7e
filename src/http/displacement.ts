import type { RecordDisplacement } from '../whatsapp-accounts/displace.ts'
import type { Deps } from '../deps.ts'
import { auditDisplacementIn } from '../users/audit/by-waybill.ts'
import { reportDisplacementIn } from '../webhooks/alerts/whatsapp-accounts.ts'

/** Records that an account lost a phone number, in its audit log and as a webhook event. */
export function recordDisplacementIn(deps: Deps): RecordDisplacement {
  return async (trx, displaced) => {
    await auditDisplacementIn(deps)(trx, displaced)
    await reportDisplacementIn(deps)(trx, displaced)
  }
}
