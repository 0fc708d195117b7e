import type { Deps } from '../deps.ts'
import { toColumns } from './keep-phone-number.ts'
import { OperatorError } from './operator-error.ts'
import { accessTokenPurpose, appSecretPurpose } from './secret-purposes.ts'
import { verifyPhoneNumber } from './verify-phone-number.ts'
import { changeWhatsAppAccount, findWhatsAppAccount } from './whatsapp-account-store.ts'
import { requireWhatsAppAccount, toWhatsAppAccount, type WhatsAppAccount } from './whatsapp-account.ts'

export interface NewSecrets {
  accessToken?: string | undefined
  appSecret?: string | undefined
}

/**
 * A new access token is verified as that of a new account is; then an account that WhatsApp refused is active again,
 * and one that is switched off stays so. An app secret alone is not verified: a token that has expired must not
 * keep a leaked secret in use.
 */
export async function replaceSecrets(
  deps: Pick<Deps, 'db' | 'secrets' | 'whatsapp'>,
  accountId: string,
  whatsAppAccountId: string,
  { accessToken, appSecret }: NewSecrets,
): Promise<WhatsAppAccount> {
  if (accessToken === undefined && appSecret === undefined)
    throw new OperatorError('There is nothing to change: give an access token, an app secret, or both.')
  const { db, secrets } = deps
  const known = requireWhatsAppAccount(await findWhatsAppAccount(db, accountId, whatsAppAccountId), whatsAppAccountId)
  const { phone_number_id: phoneNumberId, waba_id: wabaId } = known
  const row = await changeWhatsAppAccount(db, accountId, whatsAppAccountId, {
    ...(accessToken !== undefined && {
      ...toColumns(await verifyPhoneNumber(deps, { phoneNumberId, wabaId, accessToken })),
      access_token_encrypted: secrets.encrypt(accessToken, accessTokenPurpose(whatsAppAccountId)),
      inactive_reason: null,
    }),
    ...(appSecret !== undefined && {
      app_secret_encrypted: secrets.encrypt(appSecret, appSecretPurpose(whatsAppAccountId)),
    }),
  })
  return toWhatsAppAccount(requireWhatsAppAccount(row, whatsAppAccountId))
}
