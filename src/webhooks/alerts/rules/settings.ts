import type { AlertRules, AlertSettings } from '../../../../contracts/dashboard/alert.ts'
import { accountNotFound } from '../../../accounts/account.ts'
import { lockAccount } from '../../../whatsapp-accounts/store.ts'
import type { Deps } from '../../../deps.ts'
import { findChatRow, toChat } from '../chat/chat.ts'
import { findRules, saveRules } from '../../../accounts/alert-rules.ts'
import { closeAlerts } from '../store.ts'

type SettingsDeps = Pick<Deps, 'db' | 'secrets' | 'mail'>

/** Returns the alert rules of an account and where its alerts are sent. */
export async function getAlertSettings(deps: SettingsDeps, accountId: string): Promise<AlertSettings> {
  const row = await findChatRow(deps.db, accountId)
  const chat = row && toChat(deps, row)
  const rules = (await findRules(deps.db, [accountId]))(accountId)
  return { ...rules, ...(chat && { chat }), emails: deps.mail !== undefined }
}

export type AlertRulesUpdate = { [Rule in keyof AlertRules]?: AlertRules[Rule] | undefined }

/** Rules that are undefined stay as they are. */
export async function updateAlertRules(
  deps: SettingsDeps,
  accountId: string,
  update: AlertRulesUpdate,
): Promise<AlertSettings> {
  await deps.db.transaction().execute(async (trx) => {
    if (!(await lockAccount(trx, accountId))) throw accountNotFound(accountId)
    const current = (await findRules(trx, [accountId]))(accountId)
    const given = Object.fromEntries(Object.entries(update).filter(([, value]) => value !== undefined))
    await saveRules(trx, accountId, { ...current, ...given })
    // Alerts of a removed threshold would never recover.
    if (update.failureRatePercent === null) await closeAlerts(trx, accountId, 'failure_rate')
    if (update.deliveryLagSeconds === null) await closeAlerts(trx, accountId, 'delivery_lag')
    if (update.noStatusMinMessages === null) await closeAlerts(trx, accountId, 'no_statuses')
  })
  return getAlertSettings(deps, accountId)
}
