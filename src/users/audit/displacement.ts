import type { RecordDisplacement } from '../../whatsapp-accounts/displace.ts'
import { appendAuditEntry, type AuditDeps } from './append.ts'

/**
 * Records the loss of a phone number in the audit log of the account that lost it, without naming the account that has
 * it now. The account that gained it records the addition like any other.
 */
export function auditDisplacementIn(deps: AuditDeps): RecordDisplacement {
  return async (trx, { row, newDefaultId }) => {
    const removed = `removed ${row.id}: WhatsApp rejected its token, and another account verified ownership of the phone number`
    await appendAuditEntry(
      { ...deps, db: trx },
      {
        accountId: row.account_id,
        id: deps.newId('aud'),
        who: 'waybill',
        what: newDefaultId === undefined ? removed : `${removed}; ${newDefaultId} is the default now`,
        address: 'server',
        outcome: 'done',
      },
    )
  }
}
