import type { Kysely } from 'kysely'
import type { AlertCode, AlertRules, AlertSeverity } from '../../../contracts/dashboard/alert.ts'
import { type Fact, inEnglish } from '../../../contracts/facts/fact.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import { decide } from './rules/decide.ts'
import { findRules } from '../../accounts/alert-rules.ts'
import { lockAccount } from '../../whatsapp-accounts/store.ts'
import { sendAlerts, wakeSenders } from './send.ts'
import { type AlertRow, changeAlert, dropHeldRecoveries, insertAlert, lockOpenAlert } from './store.ts'
import { linkTo, type MemberAlert, toColumns } from './text.ts'

/** A problem that began, changed or was resolved. */
export interface AlertChange {
  accountId: string
  code: AlertCode
  /** ID of the object that the alert is about. */
  subjectId: string
  kind: 'raised' | 'recovered'
  severity: AlertSeverity
  title: Fact
  paragraphs: readonly Fact[]
  /** Whether a recovery is of interest only to those who know of the problem. */
  ifOpen?: boolean
  /** Whether the problem began again after a repair, so that an earlier acknowledgement does not count. */
  anew?: boolean
}

export type ReportDeps = Pick<Deps, 'secrets' | 'newId' | 'mail' | 'publicUrl' | 'log' | 'now'>

/**
 * Records the changes and alerts the members of the accounts, now or after quiet hours, once the transaction commits.
 */
export async function reportChanges(
  deps: ReportDeps,
  trx: Kysely<Database>,
  changes: readonly AlertChange[],
): Promise<void> {
  const rulesOf = await findRules(
    trx,
    changes.map(({ accountId }) => accountId),
  )
  const alerts: MemberAlert[] = []
  for (const change of changes)
    if (await record(deps, trx, change, rulesOf(change.accountId))) alerts.push(toAlert(deps, change))
  await sendAlerts(deps, trx, alerts)
}

/**
 * Reports the changes that `findChanges` finds, each account in a transaction of its own. Returns the number of changes.
 */
export async function reportByAccount(
  deps: ReportDeps & Pick<Deps, 'db' | 'notifications'>,
  changed: readonly { accountId: string }[],
  findChanges: (trx: Kysely<Database>, accountId: string) => Promise<AlertChange[]>,
): Promise<number> {
  let changes = 0
  for (const accountId of new Set(changed.map((one) => one.accountId)))
    changes += await deps.db.transaction().execute(async (trx) => {
      // Another node may have found the same changes. It holds this lock until its alerts are stored.
      await lockAccount(trx, accountId)
      const found = await findChanges(trx, accountId)
      await reportChanges(deps, trx, found)
      return found.length
    })
  if (changes > 0) wakeSenders(deps)
  return changes
}

function toAlert({ publicUrl }: Pick<Deps, 'publicUrl'>, change: AlertChange): MemberAlert {
  const paragraphs = change.paragraphs.map((paragraph) => inEnglish(paragraph))
  return {
    accountId: change.accountId,
    text: { title: inEnglish(change.title), paragraphs, link: linkTo(publicUrl, change) },
  }
}

type RecordDeps = Pick<Deps, 'newId' | 'now'>

/** Returns whether to send the alert now. */
function record(deps: RecordDeps, trx: Kysely<Database>, change: AlertChange, rules: AlertRules): Promise<boolean> {
  return change.kind === 'raised' ? raise(deps, trx, change, rules) : recover(deps, trx, change, rules)
}

async function raise(
  { newId, now: clock }: RecordDeps,
  trx: Kysely<Database>,
  change: AlertChange,
  rules: AlertRules,
): Promise<boolean> {
  const now = clock()
  const openAlert = await lockOpenAlert(trx, change)
  const acknowledged = openAlert?.acknowledgedAt != null && change.anew !== true
  const { send, dueAt } = decide({
    now,
    change: 'raised',
    severity: change.severity,
    previousSeverity: openAlert && toSeverity(openAlert),
    wasSent: openAlert?.sentAt != null,
    acknowledged,
    rules,
  })
  const isAcknowledged = acknowledged && !send && dueAt === undefined
  const changes = {
    severity: change.severity,
    ...toColumns(change),
    dueAt: dueAt ?? null,
    sentAt: send ? now : (openAlert?.sentAt ?? null),
  }
  if (!openAlert) {
    // Members know of the earlier problem, and not that it was over.
    const knownSince = await dropHeldRecoveries(trx, change)
    const { accountId, code, subjectId } = change
    const row = {
      ...changes,
      sentAt: changes.sentAt ?? knownSince,
      accountId,
      id: newId('alr'),
      code,
      subjectId,
      openedAt: now,
    }
    return (await insertAlert(trx, row)) && send
  }
  await changeAlert(trx, openAlert, {
    ...changes,
    ...(!isAcknowledged && { acknowledgedAt: null, acknowledgedBy: null }),
  })
  return send
}

async function recover(
  { newId, now: clock }: RecordDeps,
  trx: Kysely<Database>,
  change: AlertChange,
  rules: AlertRules,
): Promise<boolean> {
  const now = clock()
  const openAlert = await lockOpenAlert(trx, change)
  if (!openAlert && change.ifOpen === true) return false
  const { send, dueAt } = decide({
    now,
    change: 'recovered',
    severity: openAlert ? toSeverity(openAlert) : change.severity,
    previousSeverity: openAlert && toSeverity(openAlert),
    // An earlier version sent alerts without recording them.
    wasSent: openAlert ? openAlert.sentAt !== null : true,
    acknowledged: openAlert?.acknowledgedAt != null,
    rules,
  })
  const text = toColumns(change)
  const recovery = {
    recoveryTitle: text.title,
    recoveryBody: text.body,
    recoveredAt: now,
    dueAt: dueAt ?? null,
  }
  if (openAlert) await changeAlert(trx, openAlert, recovery)
  else {
    const { accountId, code, subjectId, severity } = change
    const row = { accountId, id: newId('alr'), code, subjectId, severity, openedAt: now, sentAt: now }
    await insertAlert(trx, { ...row, ...text, ...recovery })
  }
  return send
}

export function toSeverity({ severity }: Pick<AlertRow, 'severity'>): AlertSeverity {
  return severity === 'critical' ? 'critical' : 'warning'
}
