import type { Deps } from '../deps.ts'
import { OperatorError } from './operator-error.ts'
import { accessTokenPurpose, appSecretPurpose } from './secret-purposes.ts'
import { changeWhatsAppAccount } from './whatsapp-account-store.ts'
import { requireWhatsAppAccount, toWhatsAppAccount, type WhatsAppAccount } from './whatsapp-account.ts'

export interface NewSecrets {
  accessToken?: string | undefined
  appSecret?: string | undefined
}

/** A new access token is given its chance: an account that WhatsApp refused is active again, one that is switched off stays so. */
export async function replaceSecrets(
  { db, secrets }: Pick<Deps, 'db' | 'secrets'>,
  accountId: string,
  whatsAppAccountId: string,
  { accessToken, appSecret }: NewSecrets,
): Promise<WhatsAppAccount> {
  if (accessToken === undefined && appSecret === undefined)
    throw new OperatorError('There is nothing to change: give an access token, an app secret, or both.')
  const row = await changeWhatsAppAccount(db, accountId, whatsAppAccountId, {
    ...(accessToken !== undefined && {
      access_token_encrypted: secrets.encrypt(accessToken, accessTokenPurpose(whatsAppAccountId)),
      inactive_reason: null,
    }),
    ...(appSecret !== undefined && {
      app_secret_encrypted: secrets.encrypt(appSecret, appSecretPurpose(whatsAppAccountId)),
    }),
  })
  return toWhatsAppAccount(requireWhatsAppAccount(row, whatsAppAccountId))
}
