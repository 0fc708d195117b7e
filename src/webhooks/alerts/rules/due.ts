import type { Deps } from '../../../deps.ts'
import { decide } from './decide.ts'
import { type ReportDeps, toSeverity } from '../report.ts'
import { findRules } from '../../../accounts/alert-rules.ts'
import { sendAlerts, wakeSenders } from '../send.ts'
import { type AlertRow, changeAlert, hasDueAlerts, lockDueAlerts } from '../store.ts'
import { isAlertCode, linkTo, type MemberAlert } from '../text.ts'

/**
 * Sends alerts that waited for the end of quiet hours or are due to be repeated, each once across all nodes. Returns
 * the number of alerts sent.
 */
export async function sendDueAlerts(deps: ReportDeps & Pick<Deps, 'db' | 'notifications'>): Promise<number> {
  const now = deps.now()
  // Checked without a lock, because this runs every few seconds on every node and rarely finds anything.
  if (!(await hasDueAlerts(deps.db, now))) return 0
  const sent = await deps.db.transaction().execute(async (trx) => {
    const rows = await lockDueAlerts(trx, now)
    const rulesOf = await findRules(
      trx,
      rows.map(({ accountId }) => accountId),
    )
    const alerts: MemberAlert[] = []
    for (const row of rows) {
      const { send, dueAt } = decide({
        now,
        change: 'due',
        severity: toSeverity(row),
        previousSeverity: toSeverity(row),
        wasSent: row.sentAt !== null,
        acknowledged: row.acknowledgedAt !== null,
        recovered: row.recoveredAt !== null,
        rules: rulesOf(row.accountId),
      })
      await changeAlert(trx, row, { dueAt: dueAt ?? null, ...(send && { sentAt: now }) })
      if (send) alerts.push(toAlert(deps, row))
    }
    await sendAlerts(deps, trx, alerts)
    return alerts.length
  })
  if (sent > 0) wakeSenders(deps)
  return sent
}

function toAlert({ publicUrl }: Pick<Deps, 'publicUrl'>, row: AlertRow): MemberAlert {
  const { accountId, code, subjectId } = row
  const isRecovery = row.recoveredAt !== null
  const title = (isRecovery ? row.recoveryTitle : null) ?? row.title
  const body = (isRecovery ? row.recoveryBody : null) ?? row.body
  // A later version may have stored a code without a page in this one.
  const link = isAlertCode(code) ? linkTo(publicUrl, { accountId, code, subjectId }) : undefined
  // Texts of WhatsApp can contain empty lines. Slack rejects a section without text.
  const paragraphs = body.split('\n').filter((line) => line.trim() !== '')
  return { accountId, text: { title, paragraphs, link } }
}
