import type { WhatsAppAccount } from '../../contracts/dashboard/whatsapp-account.ts'
import { ServiceError } from '../../contracts/errors.ts'
import { errorFacts, errorFactsWithValues } from '../../contracts/facts/errors.ts'
import { type Sentence, withFacts } from '../../contracts/facts/fact.ts'
import { inactiveReasons } from '../../contracts/facts/findings.ts'
import { requireAccount } from '../accounts/account.ts'
import type { Deps } from '../deps.ts'
import { findAdvice } from '../whatsapp/failure-advice.ts'
import { readInactiveReason, readRejection } from './inactive-reason.ts'
import { openAccessToken, unreadableToken } from './secrets.ts'
import { findWhatsAppAccounts, type WhatsAppAccountRow } from './store.ts'

/** Converts a row to the form shown to users, without its secrets. */
export function toWhatsAppAccount(row: WhatsAppAccountRow): WhatsAppAccount {
  const inactiveReason = whyInactive(row)
  return {
    whatsAppAccountId: row.id,
    phoneNumberId: row.phoneNumberId,
    wabaId: row.wabaId,
    isDefault: row.isDefault,
    active: row.active,
    ...(inactiveReason !== undefined && { ...withFacts({ reason: inactiveReason }), switchedOff: row.switchedOff }),
    ...(row.displayPhoneNumber !== null && { displayPhoneNumber: row.displayPhoneNumber }),
    ...(row.verifiedName !== null && { verifiedName: row.verifiedName }),
    hasAppSecret: row.appSecretEncrypted !== null,
    ...(row.qualityRating !== null && { qualityRating: row.qualityRating }),
    ...(row.throughputLevel !== null && { throughputLevel: row.throughputLevel }),
    marketingSetting: row.marketingSetting,
    messagingAccountSetting: row.messagingAccountSetting,
    createdAt: row.createdAt.toISOString(),
  }
}

/** Undefined if the account is active. */
export function whyInactive(
  row: Pick<WhatsAppAccountRow, 'switchedOff' | 'inactiveReason' | 'inactiveFact'>,
): Sentence | undefined {
  return row.switchedOff ? inactiveReasons.byUser() : (readInactiveReason(row) ?? undefined)
}

export function whatsAppAccountNotFound(whatsAppAccountId: string): ServiceError {
  return new ServiceError(
    'NOT_FOUND',
    errorFactsWithValues.whatsAppAccountNotFound({ value: JSON.stringify(whatsAppAccountId) }),
    {
      remedy: 'List the WhatsApp accounts of an account: waybill whatsapp list ACC',
    },
  )
}

export function requireWhatsAppAccount(
  row: WhatsAppAccountRow | undefined,
  whatsAppAccountId: string,
): WhatsAppAccountRow {
  if (!row) throw whatsAppAccountNotFound(whatsAppAccountId)
  return row
}

export async function listWhatsAppAccounts(deps: Pick<Deps, 'db'>, accountId: string): Promise<WhatsAppAccount[]> {
  await requireAccount(deps.db, accountId)
  const rows = await findWhatsAppAccounts(deps.db, accountId)
  return rows.map(toWhatsAppAccount)
}

interface Account {
  id: string
  /** Undefined if the account is active. */
  inactiveReason: Sentence | undefined
}

/** Returns the WhatsApp account that a request names, or the default one; throws if it cannot be used. */
export function requireActiveWhatsAppAccount<A extends Account>(
  account: A | undefined,
  accountId: string | undefined,
): A {
  if (!account) throw noWhatsAppAccount(accountId)
  if (account.inactiveReason !== undefined) throw inactiveAccount(account.id, account.inactiveReason)
  return account
}

/** With the code and the advice that the send had whose rejection deactivated the account. */
function inactiveAccount(id: string, reason: Sentence): ServiceError {
  const rejection = readRejection(reason)
  const failureCode = rejection && String(rejection.code)
  const advice = rejection && findAdvice(String(rejection.code), rejection.text)
  const said = advice
    ? errorFactsWithValues.rejectedAccount({ id, reason, advice })
    : errorFactsWithValues.inactiveAccount({ id, reason })
  return new ServiceError('NO_ACTIVE_ACCOUNT', said, { failureCode })
}

/** `accountId` is the one of the request; undefined if the request did not set it. */
export function noWhatsAppAccount(accountId: string | undefined): ServiceError {
  return new ServiceError(
    'NO_ACTIVE_ACCOUNT',
    accountId === undefined ? errorFacts.noDefault() : errorFacts.notYourWhatsAppAccount(),
  )
}

/** Reads the WhatsApp account that a request names, or the default one, with its token; throws if it cannot be used. */
export async function openActiveAccount(
  deps: Pick<Deps, 'db' | 'secrets' | 'log'>,
  accountId: string,
  whatsAppAccountId: string | undefined,
): Promise<{ row: WhatsAppAccountRow; accessToken: string }> {
  const rows = await findWhatsAppAccounts(deps.db, accountId)
  const found = rows.find((row) => (whatsAppAccountId === undefined ? row.isDefault : row.id === whatsAppAccountId))
  const known = found && { id: found.id, inactiveReason: whyInactive(found), row: found }
  const { row } = requireActiveWhatsAppAccount(known, whatsAppAccountId)
  const accessToken = openAccessToken(deps, { accountId, whatsAppAccountId: row.id }, row.accessTokenEncrypted)
  if (accessToken === undefined) throw new ServiceError('NO_ACTIVE_ACCOUNT', unreadableToken(row.id))
  return { row, accessToken }
}
