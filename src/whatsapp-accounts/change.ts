import type { Kysely } from 'kysely'
import type { MarketingSetting, MessagingAccountSetting } from '../../contracts/api/account.ts'
import type { WhatsAppAccount } from '../../contracts/dashboard/whatsapp-account.ts'
import { ServiceError } from '../../contracts/errors.ts'
import { errorFacts, errorFactsWithValues } from '../../contracts/facts/errors.ts'
import type { Deps } from '../deps.ts'
import type { Database } from '../platform/db/schema.ts'
import type { WhatsAppError } from '../whatsapp/read-outcome.ts'
import { readActivityTime } from './account-changes.ts'
import { scheduleCheck } from './health/store.ts'
import { rejectedWith, toReasonColumns } from './inactive-reason.ts'
import {
  changeWhatsAppAccount,
  clearDefault,
  deleteTemplates,
  deleteWhatsAppAccount,
  findWhatsAppAccount,
  findWhatsAppAccounts,
  lockAccount,
  markRejected,
  type UsedToken,
  type WhatsAppAccountRef,
  type WhatsAppAccountRow,
} from './store.ts'
import { requireWhatsAppAccount, toWhatsAppAccount } from './whatsapp-account.ts'

/**
 * Activates an account that a user deactivated or WhatsApp rejected. In the latter case, the next send tries it again.
 */
export async function activateWhatsAppAccount(
  deps: Pick<Deps, 'db'>,
  { accountId, whatsAppAccountId }: WhatsAppAccountRef,
): Promise<WhatsAppAccount> {
  const row = await changeWhatsAppAccount(deps.db, accountId, whatsAppAccountId, {
    switchedOff: false,
    ...toReasonColumns(null),
    activityReportedAt: await readActivityTime(deps.db),
  })
  return toWhatsAppAccount(requireWhatsAppAccount(row, whatsAppAccountId))
}

/** A default account stays the default: requests without `accountId` are rejected instead of using another number. */
export async function deactivateWhatsAppAccount(
  deps: Pick<Deps, 'db'>,
  { accountId, whatsAppAccountId }: WhatsAppAccountRef,
): Promise<WhatsAppAccount> {
  const row = await changeWhatsAppAccount(deps.db, accountId, whatsAppAccountId, { switchedOff: true })
  return toWhatsAppAccount(requireWhatsAppAccount(row, whatsAppAccountId))
}

export async function setDefaultWhatsAppAccount(
  deps: Pick<Deps, 'db'>,
  { accountId, whatsAppAccountId }: WhatsAppAccountRef,
): Promise<WhatsAppAccount> {
  const row = await deps.db.transaction().execute(async (trx) => {
    await lockAccount(trx, accountId)
    refuseInactive(
      requireWhatsAppAccount(await findWhatsAppAccount(trx, accountId, whatsAppAccountId), whatsAppAccountId),
    )
    await clearDefault(trx, accountId)
    const changed = await changeWhatsAppAccount(trx, accountId, whatsAppAccountId, { isDefault: true })
    return requireWhatsAppAccount(changed, whatsAppAccountId)
  })
  return toWhatsAppAccount(row)
}

/** Takes effect with the next send. */
export async function setMarketing(
  deps: Pick<Deps, 'db'>,
  { accountId, whatsAppAccountId }: WhatsAppAccountRef,
  setting: MarketingSetting,
): Promise<WhatsAppAccount> {
  const row = await changeWhatsAppAccount(deps.db, accountId, whatsAppAccountId, { marketingSetting: setting })
  return toWhatsAppAccount(requireWhatsAppAccount(row, whatsAppAccountId))
}

/** Takes effect with the next send. */
export async function setMessagingAccount(
  deps: Pick<Deps, 'db'>,
  { accountId, whatsAppAccountId }: WhatsAppAccountRef,
  setting: MessagingAccountSetting,
): Promise<WhatsAppAccount> {
  const row = await changeWhatsAppAccount(deps.db, accountId, whatsAppAccountId, { messagingAccountSetting: setting })
  return toWhatsAppAccount(requireWhatsAppAccount(row, whatsAppAccountId))
}

/** Otherwise every request without `accountId` would be rejected from now on. */
function refuseInactive({ id, active, isDefault }: WhatsAppAccountRow): void {
  if (!active && !isDefault)
    throw new ServiceError('SETTING_REFUSED', errorFacts.activateFirst(), {
      remedy: `Run: waybill whatsapp activate ${id}`,
    })
}

/** Removes the WhatsApp account, its secrets, and templates that no other account shares. Messages stay. */
export async function removeWhatsAppAccount(
  deps: Pick<Deps, 'db'>,
  { accountId, whatsAppAccountId }: WhatsAppAccountRef,
): Promise<{ whatsAppAccountId: string }> {
  await deps.db.transaction().execute(async (trx) => {
    await lockAccount(trx, accountId)
    const rows = await findWhatsAppAccounts(trx, accountId)
    const row = requireWhatsAppAccount(
      rows.find(({ id }) => id === whatsAppAccountId),
      whatsAppAccountId,
    )
    const others = rows.filter((other) => other !== row)
    refuseToDropDefault(row, others)
    await deleteWithTemplates(trx, row, others)
  })
  return { whatsAppAccountId }
}

/** Deletes a WhatsApp account with its secrets, and the templates of its WABA unless another account uses them. */
export async function deleteWithTemplates(
  trx: Kysely<Database>,
  { accountId, id, wabaId }: WhatsAppAccountRow,
  others: WhatsAppAccountRow[],
): Promise<void> {
  await deleteWhatsAppAccount(trx, accountId, id)
  if (!others.some((other) => other.wabaId === wabaId)) await deleteTemplates(trx, accountId, wabaId)
}

/** Choosing another default automatically would send from an unexpected number. */
function refuseToDropDefault(row: WhatsAppAccountRow, others: WhatsAppAccountRow[]): void {
  const other = others.find(({ active }) => active) ?? others[0]
  if (row.isDefault && other)
    throw new ServiceError('SETTING_REFUSED', errorFactsWithValues.otherDefaultFirst({ id: row.id }), {
      remedy: `For example: waybill whatsapp set-default ${other.id}`,
    })
}

/**
 * Deactivates an account whose token WhatsApp rejected, until a user fixes it. Does nothing if the token was replaced
 * in the meantime. An earlier reason is kept.
 */
export async function deactivateRefused(
  { db }: Pick<Deps, 'db'>,
  rejected: UsedToken,
  error: WhatsAppError,
): Promise<void> {
  if (!(await markRejected(db, rejected, rejectedWith(error)))) return
  await scheduleCheck(db, { accountId: rejected.accountId, whatsAppAccountId: rejected.id })
}
