import type { WhatsAppAccount } from '../../../contracts/dashboard/whatsapp-account.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import type { Deps } from '../../deps.ts'
import { checkInput } from './add.ts'
import { subscribeApp } from './connect/subscribe.ts'
import { readTokenFacts } from './connect/token.ts'
import { saveHealth } from './health/store.ts'
import { refuseMissingPermission, toColumns, verifyPhoneNumber } from './phone-number.ts'
import { accessTokenPurpose, appSecretPurpose, describeUnreadableToken, openAccessToken } from './secrets.ts'
import {
  changeWhatsAppAccount,
  deleteTemplates,
  findWhatsAppAccount,
  findWhatsAppAccounts,
  lockAccount,
  scheduleSync,
  type WhatsAppAccountChanges,
} from './store.ts'
import { requireWhatsAppAccount, toWhatsAppAccount } from './whatsapp-account.ts'

export interface WhatsAppAccountUpdate {
  accessToken?: string | undefined
  appSecret?: string | undefined
  wabaId?: string | undefined
}

/**
 * Replaces the access token, the app secret or the WABA; the IDs stay. A new token or WABA is verified like that of a
 * new account; then an account that WhatsApp rejected becomes active again, and one that a user deactivated stays
 * inactive. An app secret alone is not verified, so that an expired token does not prevent the replacement of a leaked
 * secret.
 */
export async function replaceSecrets(
  deps: Pick<Deps, 'db' | 'secrets' | 'whatsapp' | 'now' | 'log'>,
  accountId: string,
  whatsAppAccountId: string,
  input: WhatsAppAccountUpdate,
): Promise<WhatsAppAccount> {
  const { appSecret } = input
  if (Object.values(input).every((value) => value === undefined))
    throw new ServiceError('SETTING_REFUSED', 'Nothing to change: pass an access token, an app secret or both.')
  const { db, secrets } = deps
  const owner = { accountId, whatsAppAccountId }
  const known = requireWhatsAppAccount(await findWhatsAppAccount(db, accountId, whatsAppAccountId), whatsAppAccountId)
  const accessToken = input.accessToken ?? openAccessToken(deps, owner, known.access_token_encrypted)
  const claimed = { phoneNumberId: known.phone_number_id, wabaId: input.wabaId ?? known.waba_id }
  checkInput({ ...claimed, appSecret, accessToken: accessToken ?? 'unreadable' })
  const secret: WhatsAppAccountChanges =
    appSecret === undefined
      ? {}
      : { app_secret_encrypted: secrets.encrypt(appSecret, appSecretPurpose(whatsAppAccountId)) }
  if (input.accessToken === undefined && input.wabaId === undefined)
    return toWhatsAppAccount(
      requireWhatsAppAccount(await changeWhatsAppAccount(db, accountId, whatsAppAccountId, secret), whatsAppAccountId),
    )
  if (accessToken === undefined)
    throw new ServiceError('SETTING_REFUSED', describeUnreadableToken(whatsAppAccountId), {
      remedy: 'Pass a new access token too.',
    })
  const [described, token] = await Promise.all([
    verifyPhoneNumber(deps, { ...claimed, accessToken }),
    readTokenFacts(deps, { accessToken }),
  ])
  refuseMissingPermission(token.info)
  const row = await db.transaction().execute(async (trx) => {
    await lockAccount(trx, accountId)
    const changed = await changeWhatsAppAccount(trx, accountId, whatsAppAccountId, {
      ...toColumns(described),
      ...secret,
      access_token_encrypted: secrets.encrypt(accessToken, accessTokenPurpose(whatsAppAccountId)),
      waba_id: claimed.wabaId,
      inactive_reason: null,
    })
    if (claimed.wabaId !== known.waba_id) {
      const others = await findWhatsAppAccounts(trx, accountId)
      if (!others.some(({ waba_id }) => waba_id === known.waba_id)) await deleteTemplates(trx, accountId, known.waba_id)
      await scheduleSync(trx, accountId, claimed.wabaId)
    }
    return changed
  })
  await saveHealth(db, owner, { token_problem: null, ...token.columns })
  await subscribeApp(deps, owner, { wabaId: claimed.wabaId, accessToken })
  return toWhatsAppAccount(requireWhatsAppAccount(row, whatsAppAccountId))
}
