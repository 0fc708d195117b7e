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
    phoneNumberId: row.phone_number_id,
    wabaId: row.waba_id,
    isDefault: row.is_default,
    active: row.active,
    ...(inactiveReason !== undefined && { ...withFacts({ reason: inactiveReason }), switchedOff: row.switched_off }),
    ...(row.display_phone_number !== null && { displayPhoneNumber: row.display_phone_number }),
    ...(row.verified_name !== null && { verifiedName: row.verified_name }),
    hasAppSecret: row.app_secret_encrypted !== null,
    ...(row.quality_rating !== null && { qualityRating: row.quality_rating }),
    ...(row.throughput_level !== null && { throughputLevel: row.throughput_level }),
    marketingSetting: row.marketing_setting,
    messagingAccountSetting: row.messaging_account_setting,
    createdAt: row.created_at.toISOString(),
  }
}

/** Undefined if the account is active. */
export function whyInactive(
  row: Pick<WhatsAppAccountRow, 'switched_off' | 'inactive_reason' | 'inactive_fact'>,
): Sentence | undefined {
  return row.switched_off ? inactiveReasons.byUser() : (readInactiveReason(row) ?? undefined)
}

export function whatsAppAccountNotFound(whatsAppAccountId: string): ServiceError {
  return new ServiceError(
    'NOT_FOUND',
    errorFactsWithValues.whatsAppAccountNotFound({ value: JSON.stringify(whatsAppAccountId) }),
    {
      remedy: 'List the WhatsApp accounts of an account: waybill whatsapp list <account>',
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
export function requireActiveAccount<A extends Account>(account: A | undefined, accountId: string | undefined): A {
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
  const found = rows.find((row) => (whatsAppAccountId === undefined ? row.is_default : row.id === whatsAppAccountId))
  const row = requireActiveAccount(found && { ...found, inactiveReason: whyInactive(found) }, whatsAppAccountId)
  const accessToken = openAccessToken(deps, { accountId, whatsAppAccountId: row.id }, row.access_token_encrypted)
  if (accessToken === undefined) throw new ServiceError('NO_ACTIVE_ACCOUNT', unreadableToken(row.id))
  return { row, accessToken }
}
