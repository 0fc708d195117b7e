import type { Kysely } from 'kysely'
import type { AlertRecipients, AlertRules, AlertSettings } from '../../../contracts/dashboard/alert.ts'
import type { Role } from '../../../contracts/procedure.ts'
import { accountNotFound } from '../../accounts/account.ts'
import { findRules, saveRules } from '../../accounts/alert-rules.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import { deleteWaitingEmails } from '../../platform/email/outbox.ts'
import { lockAccount } from '../../whatsapp-accounts/store.ts'
import { findChatRow, toChat } from './chat/chat.ts'
import { closeAlerts, rescheduleRepeats } from './store.ts'

interface SignedInMember {
  accountId: string
  userId: string
}

/** Returns whether a member receives alerts by email. Owners also see the preferences of the other members. */
export async function getAlertRecipients(
  { db, mail }: Pick<Deps, 'db' | 'mail'>,
  { accountId, userId }: SignedInMember,
): Promise<AlertRecipients> {
  const members = await findMemberPreferences(db, accountId)
  const self = members.find((member) => member.userId === userId)
  return {
    emails: mail !== undefined,
    receives: self?.receives === true,
    ...(self?.role === 'owner' && { members: members.map(({ email, receives }) => ({ email, receives })) }),
  }
}

/** Changes the preference of this member only. Alert emails that are still waiting are not sent to them. */
export async function setAlertEmails(
  deps: Pick<Deps, 'db' | 'mail'>,
  { email, ...member }: SignedInMember & { email: string },
  receives: boolean,
): Promise<AlertRecipients> {
  await deps.db.transaction().execute(async (trx) => {
    await saveMemberPreference(trx, member, receives)
    if (!receives) await deleteWaitingEmails(trx, { accountId: member.accountId, kind: 'alert', to: email })
  })
  return getAlertRecipients(deps, member)
}

interface Recipient {
  accountId: string
  accountName: string
  email: string
}

/** Returns the members of these accounts who receive alerts by email. */
export function findRecipients(db: Kysely<Database>, accountIds: readonly string[]): Promise<Recipient[]> {
  return db
    .selectFrom('owner_roles')
    .innerJoin('owners', 'owners.id', 'owner_roles.owner_id')
    .innerJoin('accounts', 'accounts.id', 'owner_roles.account_id')
    .select(['owner_roles.account_id as accountId', 'accounts.name as accountName', 'owners.email'])
    .where('owner_roles.account_id', 'in', accountIds)
    .where('owner_roles.alert_emails', '=', true)
    .orderBy('owners.email')
    .execute()
}

interface MemberPreference {
  userId: string
  email: string
  role: Role
  receives: boolean
}

/** Returns all members of an account and whether they receive alert emails. */
function findMemberPreferences(db: Kysely<Database>, accountId: string): Promise<MemberPreference[]> {
  return db
    .selectFrom('owner_roles')
    .innerJoin('owners', 'owners.id', 'owner_roles.owner_id')
    .select(['owners.id as userId', 'owners.email', 'owner_roles.role', 'owner_roles.alert_emails as receives'])
    .where('owner_roles.account_id', '=', accountId)
    .orderBy('owners.email')
    .execute()
}

async function saveMemberPreference(
  db: Kysely<Database>,
  { accountId, userId }: { accountId: string; userId: string },
  receives: boolean,
): Promise<void> {
  await db
    .updateTable('owner_roles')
    .set({ alert_emails: receives })
    .where('account_id', '=', accountId)
    .where('owner_id', '=', userId)
    .execute()
}

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
    const { repeatHours = current.repeatHours } = update
    if (repeatHours !== current.repeatHours)
      await rescheduleRepeats(trx, accountId, { from: current.repeatHours, to: repeatHours })
    // Alerts of a removed threshold would never recover.
    if (update.failureRatePercent === null) await closeAlerts(trx, { accountId, code: 'failure_rate' })
    if (update.deliveryLagSeconds === null) await closeAlerts(trx, { accountId, code: 'delivery_lag' })
    if (update.noStatusMinMessages === null) await closeAlerts(trx, { accountId, code: 'no_statuses' })
  })
  return getAlertSettings(deps, accountId)
}
