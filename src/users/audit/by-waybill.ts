import type { Kysely } from 'kysely'
import { changes } from '../../../contracts/facts/changes.ts'
import type { Database } from '../../platform/db/schema.ts'
import type { Displaced } from '../../whatsapp-accounts/displace.ts'
import type { RecordRefresh } from '../../whatsapp-accounts/health/refresh.ts'
import { appendAuditEntry, type AuditDeps } from './append.ts'

/**
 * Records the loss of a phone number in the audit log of the account that lost it, without naming the account that has
 * it now. The account that gained it records the addition like any other.
 */
export async function auditDisplacement(
  deps: AuditDeps,
  trx: Kysely<Database>,
  { row, newDefaultId }: Displaced,
): Promise<void> {
  const removed = changes.loseNumber({ whatsAppAccountId: row.id })
  await appendAuditEntry(
    { ...deps, db: trx },
    {
      accountId: row.accountId,
      id: deps.newId('aud'),
      who: 'waybill',
      what:
        newDefaultId === undefined
          ? removed
          : changes.replaceDefault({ change: removed, whatsAppAccountId: newDefaultId }),
      address: 'server',
      outcome: 'done',
    },
  )
}

/** Records in the audit log that Waybill refreshed an access token, or that Meta refused to. */
export function createRefreshAuditor(deps: AuditDeps): RecordRefresh {
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
