import type { Kysely } from 'kysely'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import { sendAlerts } from './send.ts'
import { type AlertCode, type AlertText, linkTo } from './text.ts'

type AlertSeverity = 'critical' | 'warning'

/** A problem that began or changed, or that is solved. */
export interface AlertChange {
  accountId: string
  code: AlertCode
  /** ID of what the alert is about. */
  subjectId: string
  kind: 'raised' | 'recovered'
  severity: AlertSeverity
  text: Pick<AlertText, 'title' | 'paragraphs'>
}

export type ReportDeps = Pick<Deps, 'secrets' | 'newId' | 'mail' | 'publicUrl' | 'log' | 'now'>

/** Alerts the members of the accounts, if the transaction commits. */
export async function reportChanges(
  deps: ReportDeps,
  trx: Kysely<Database>,
  changes: readonly AlertChange[],
): Promise<void> {
  const alerts = changes.map(({ text, ...change }) => ({
    accountId: change.accountId,
    text: { ...text, link: linkTo(deps.publicUrl, change) },
  }))
  await sendAlerts(deps, trx, alerts)
}
