import type { Alert } from '../../../contracts/dashboard/alert.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import type { Deps } from '../../deps.ts'
import { toSeverity } from './report.ts'
import { type AlertRow, changeAlert, findAlerts, lockAlert } from './store.ts'
import { isAlertCode, pageOf, readFacts } from './text.ts'

/** Lists open alerts of an account first, then resolved ones. */
export async function listAlerts({ db }: Pick<Deps, 'db'>, accountId: string): Promise<Alert[]> {
  return (await findAlerts(db, accountId)).map(toAlert)
}

/** An acknowledged alert is not repeated, unless it becomes critical. Acknowledging it again changes nothing. */
export async function acknowledgeAlert(
  { db, now }: Pick<Deps, 'db' | 'now'>,
  { accountId, alertId, by }: { accountId: string; alertId: string; by: string },
): Promise<Alert> {
  return db.transaction().execute(async (trx) => {
    const row = await lockAlert(trx, accountId, alertId)
    if (!row)
      throw new ServiceError('NOT_FOUND', `No alert has the ID ${alertId}.`, {
        remedy: `List the alerts: waybill alert list ${accountId}`,
      })
    if (row.recoveredAt !== null) throw new ServiceError('SETTING_REFUSED', 'This alert is already resolved.')
    if (row.acknowledgedAt !== null) return toAlert(row)
    const changes = { acknowledgedAt: now(), acknowledgedBy: by, dueAt: null }
    return toAlert((await changeAlert(trx, row, changes)) ?? row)
  })
}

function toAlert(row: AlertRow): Alert {
  return {
    alertId: row.id,
    severity: toSeverity(row),
    title: row.title,
    body: row.body,
    page: isAlertCode(row.code) ? pageOf(row.code, row.subjectId) : 'overview',
    openedAt: row.openedAt.toISOString(),
    ...(row.sentAt && { sentAt: row.sentAt.toISOString() }),
    ...(row.acknowledgedAt && { acknowledgedAt: row.acknowledgedAt.toISOString() }),
    ...(row.acknowledgedBy !== null && { acknowledgedBy: row.acknowledgedBy }),
    ...(row.recoveredAt && { recoveredAt: row.recoveredAt.toISOString() }),
    ...readFacts(row),
  }
}
