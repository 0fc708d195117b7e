import { changes } from '../../../contracts/facts/changes.ts'
import type { RecordRefresh } from '../../whatsapp-accounts/health/refresh.ts'
import { appendAuditEntry, type AuditDeps } from './append.ts'

/** Records in the audit log that Waybill refreshed an access token, or that Meta refused to. */
export function auditRefreshIn(deps: AuditDeps): RecordRefresh {
  return async (trx, { accountId, whatsAppAccountId, outcome }) => {
    await appendAuditEntry(
      { ...deps, db: trx },
      {
        accountId,
        id: deps.newId('aud'),
        who: 'waybill',
        what: changes.refreshToken({ whatsAppAccountId }),
        address: 'server',
        outcome,
      },
    )
  }
}
