import type { RecordDisplacement } from '../whatsapp-accounts/displace.ts'
import type { Deps } from '../deps.ts'
import { auditDisplacement } from '../users/audit/by-waybill.ts'
import { reportDisplacement } from '../webhooks/alerts/announce-whatsapp-accounts.ts'

/** Records that an account lost a phone number, in its audit log and as a webhook event. */
export function createDisplacementRecorder(deps: Deps): RecordDisplacement {
  return async (trx, displaced) => {
    await auditDisplacement(deps, trx, displaced)
    await reportDisplacement(deps, trx, displaced)
  }
}
