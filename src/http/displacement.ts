import type { RecordDisplacement } from '../accounts/whatsapp/displace.ts'
import type { Deps } from '../deps.ts'
import { auditDisplacementIn } from '../users/audit/displacement.ts'
import { reportDisplacementIn } from '../webhooks/alerts/displacement.ts'

/** Records the loss of a phone number in the audit log, and for the webhooks, of the account that lost it. */
export function recordDisplacementIn(deps: Deps): RecordDisplacement {
  return async (trx, displaced) => {
    await auditDisplacementIn(deps)(trx, displaced)
    await reportDisplacementIn(deps)(trx, displaced)
  }
}
