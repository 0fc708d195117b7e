import { ServiceError } from '../../../contracts/errors.ts'
import { describeUnreadableToken, openAccessToken } from '../../accounts/whatsapp/secrets.ts'
import { findWhatsAppAccounts } from '../../accounts/whatsapp/store.ts'
import { findAccount } from '../../accounts/store.ts'
import type { Deps } from '../../deps.ts'

/** The WhatsApp account whose token changes the templates of its WABA. */
export interface Maker {
  accountId: string
  whatsAppAccountId: string
  wabaId: string
  accessToken: string
  /** The token as it is stored, which tells whether it was replaced meanwhile. */
  accessTokenEncrypted: string
}

/** Changes need a token that works, so an inactive WhatsApp account makes none. */
export async function findMaker(
  deps: Pick<Deps, 'db' | 'secrets' | 'log'>,
  accountId: string,
  whatsAppAccountId: string | undefined,
): Promise<Maker> {
  const rows = await findWhatsAppAccounts(deps.db, accountId)
  const row = rows.find((one) => (whatsAppAccountId === undefined ? one.is_default : one.id === whatsAppAccountId))
  if (!row)
    throw new ServiceError(
      'NO_ACTIVE_ACCOUNT',
      whatsAppAccountId === undefined
        ? 'No default WhatsApp account is set up. Add one, or name one in accountId.'
        : 'accountId: no WhatsApp account of yours has this ID. Leave it out for the default account.',
    )
  if (!row.active)
    throw new ServiceError('NO_ACTIVE_ACCOUNT', `The WhatsApp account ${row.id} is inactive. Activate it first.`)
  const owner = { accountId, whatsAppAccountId: row.id }
  const accessToken = openAccessToken(deps, owner, row.access_token_encrypted)
  if (accessToken === undefined) throw new ServiceError('NO_ACTIVE_ACCOUNT', describeUnreadableToken(row.id))
  return { ...owner, wabaId: row.waba_id, accessToken, accessTokenEncrypted: row.access_token_encrypted }
}

/** An API key gets this power only once a user grants it: keys that exist must not gain it silently. */
export async function assertTemplateChangesEnabled({ db }: Pick<Deps, 'db'>, accountId: string): Promise<void> {
  const account = await findAccount(db, accountId)
  if (account?.template_changes_enabled === true) return
  throw new ServiceError(
    'TEMPLATE_CHANGES_DISABLED',
    'The API key of this account may not change templates. Allow it in the dashboard under Public API, or change templates there.',
  )
}
