import type { RecordDisplacement } from '../whatsapp-accounts/displace.ts'
import type { Deps } from '../deps.ts'
import { createDisplacementAuditor } from '../users/audit/by-waybill.ts'
import { createDisplacementReporter } from '../webhooks/alerts/whatsapp-accounts.ts'

/** Records that an account lost a phone number, in its audit log and as a webhook event. */
export function createDisplacementRecorder(deps: Deps): RecordDisplacement {
  return async (trx, displaced) => {
    await createDisplacementAuditor(deps)(trx, displaced)
    await createDisplacementReporter(deps)(trx, displaced)
  }
}
