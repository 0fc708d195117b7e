import type { RecordDisplacement } from '../../accounts/whatsapp/displace.ts'
import { appendAuditEntry, type AuditDeps } from './append.ts'

/**
 * Tells the account that lost a phone number, in its audit log, without a word about who has it now. The account that
 * gained it records the addition like any other.
 */
export function recordDisplacementIn(deps: AuditDeps): RecordDisplacement {
  return async (trx, { accountId, whatsAppAccountId }) => {
    await appendAuditEntry(
      { ...deps, db: trx },
      {
        accountId,
        id: deps.newId('aud'),
        who: 'waybill',
        what: `removed ${whatsAppAccountId}: WhatsApp rejected its token, and somebody else proved that its phone number is theirs`,
        address: 'server',
        outcome: 'done',
      },
    )
  }
}
