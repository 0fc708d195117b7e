import type { Sentence } from '../../contracts/facts/fact.ts'
import { errorFacts, failureFacts } from '../../contracts/facts/errors.ts'
import { ServiceError } from '../../contracts/errors.ts'
import type { Deps } from '../deps.ts'
import { unreadableToken, openAccessToken } from './secrets.ts'
import { findWhatsAppAccounts, type WhatsAppAccountRow } from './store.ts'
import { whyInactive } from './whatsapp-account.ts'

interface Account {
  id: string
  /** Undefined if the account is active. */
  inactiveReason: Sentence | undefined
}

/** Returns the WhatsApp account that a request names, or the default one; throws if it cannot be used. */
export function requireActiveAccount<A extends Account>(account: A | undefined, accountId: string | undefined): A {
  if (!account) throw noWhatsAppAccount(accountId)
  if (account.inactiveReason !== undefined)
    throw new ServiceError(
      'NO_ACTIVE_ACCOUNT',
      failureFacts.inactiveAccount({ id: account.id, reason: account.inactiveReason }),
    )
  return account
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
