import type { Kysely } from 'kysely'
import type { Deps } from '../deps.ts'
import type { Database } from '../platform/db/schema.ts'
import { deleteWithTemplates } from './change.ts'
import { deleteHealth } from './health/store.ts'
import { openAccessToken } from './secrets.ts'
import { changeWhatsAppAccount, findWhatsAppAccounts, lockUnchanged, type WhatsAppAccountRow } from './store.ts'

/** A WhatsApp account that lost its phone number to another account, which proved that the number is its own. */
export interface Displaced {
  row: WhatsAppAccountRow
  /** Whether its inactivity was already announced by webhook. */
  isKnownInactive: boolean
  /** The WhatsApp account that became the default in its place. */
  newDefaultId: string | undefined
}

/**
 * Records a displacement for the displaced account, in its audit log and for its webhooks. Called last in the
 * transaction, because the events of an account stay locked until the commit.
 */
export type RecordDisplacement = (trx: Kysely<Database>, displaced: Displaced) => Promise<void>

/**
 * Returns whether the account that holds a phone number can still prove that the number is its own. It loses the number
 * only if WhatsApp says that its token is invalid or has no access to the number. A locked account, an unpaid bill or a
 * missing response says nothing about ownership.
 */
export async function holdsNumber(
  deps: Pick<Deps, 'whatsapp' | 'secrets' | 'log'>,
  row: WhatsAppAccountRow,
): Promise<boolean> {
  const ref = { accountId: row.accountId, whatsAppAccountId: row.id }
  const accessToken = openAccessToken(deps, ref, row.accessTokenEncrypted)
  // A token that this server cannot decrypt says nothing about ownership.
  if (accessToken === undefined) return true
  const outcome = await deps.whatsapp.getPhoneNumber({ phoneNumberId: row.phoneNumberId, accessToken })
  return outcome.ok || outcome.accessDenied !== true
}

/**
 * Removes the account that lost its number, unless its token was replaced since it was checked. Its messages stay. If
 * it was the default, the oldest other account that can send takes its place. The caller has locked its account.
 */
export async function displace(trx: Kysely<Database>, checked: WhatsAppAccountRow): Promise<Displaced | undefined> {
  if (!(await lockUnchanged(trx, checked))) return undefined
  const rows = await findWhatsAppAccounts(trx, checked.accountId)
  const row = rows.find(({ id }) => id === checked.id) ?? checked
  const others = rows.filter((other) => other !== row)
  const health = await deleteHealth(trx, { accountId: row.accountId, whatsAppAccountId: row.id })
  await deleteWithTemplates(trx, row, others)
  const next = row.isDefault ? others.find(({ active }) => active) : undefined
  if (next) await changeWhatsAppAccount(trx, next.accountId, next.id, { isDefault: true })
  return { row, isKnownInactive: health?.announcedActive === false, newDefaultId: next?.id }
}
