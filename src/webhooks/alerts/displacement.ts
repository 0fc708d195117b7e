import { inactiveReasons } from '../../../contracts/facts/findings.ts'
import { inEnglish } from '../../../contracts/facts/fact.ts'
import type { RecordDisplacement } from '../../whatsapp-accounts/displace.ts'
import type { Deps } from '../../deps.ts'
import { recordEvents } from '../events/store.ts'
import { toAccountChange } from './account-texts.ts'
import { type ReportDeps, reportChanges } from './report.ts'
import { toInactiveEvent } from './whatsapp-accounts.ts'

/**
 * Records the event of a WhatsApp account that lost its number to another account, and alerts the members. The row is
 * deleted in the same transaction, so the periodic job would never find it.
 */
export function reportDisplacementIn(deps: ReportDeps & Pick<Deps, 'randomBytes'>): RecordDisplacement {
  return async (trx, { row, isKnownInactive }) => {
    if (isKnownInactive) return
    const reason = inactiveReasons.displaced()
    const event = toInactiveEvent(row, deps.now(), { by: 'whatsapp', reason: inEnglish(reason) })
    const { type } = event
    const recorded = { accountId: row.account_id, type, messageId: row.id, payload: JSON.stringify(event) }
    await recordEvents(trx, [recorded], deps)
    await reportChanges(deps, trx, [toAccountChange(row.account_id, event, reason)])
  }
}
