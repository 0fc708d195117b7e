import { ServiceError } from '../../../contracts/errors.ts'
import { openActiveAccount } from '../../whatsapp-accounts/whatsapp-account.ts'
import { findAccount } from '../../accounts/store.ts'
import type { Deps } from '../../deps.ts'

/** The WhatsApp account whose token changes the templates of its WABA. */
export interface TemplateAccount {
  accountId: string
  whatsAppAccountId: string
  wabaId: string
  accessToken: string
  /** Whether its marketing templates are sent by the Marketing Messages API. */
  isMarketingOnboarded: boolean
  /** The token as stored, to detect whether it was replaced in the meantime. */
  accessTokenEncrypted: string
}

/** Throws if the WhatsApp account is inactive, because changes need a working token. */
export async function openTemplateAccount(
  deps: Pick<Deps, 'db' | 'secrets' | 'log'>,
  accountId: string,
  whatsAppAccountId: string | undefined,
): Promise<TemplateAccount> {
  const { row, accessToken } = await openActiveAccount(deps, accountId, whatsAppAccountId)
  return {
    accountId,
    whatsAppAccountId: row.id,
    wabaId: row.wabaId,
    accessToken,
    isMarketingOnboarded: row.marketingOnboardingStatus === 'ONBOARDED',
    accessTokenEncrypted: row.accessTokenEncrypted,
  }
}

/** An API key gets this permission only when a user grants it, so that existing keys do not gain it silently. */
export async function assertTemplateChangesEnabled({ db }: Pick<Deps, 'db'>, accountId: string): Promise<void> {
  const account = await findAccount(db, accountId)
  if (account?.templateChangesEnabled === true) return
  throw new ServiceError(
    'TEMPLATE_CHANGES_DISABLED',
    'The API key of this account may not change templates. Allow it in the dashboard under Public API, or change templates there.',
  )
}
