import type { Kysely } from 'kysely'
import { ServiceError } from '../../../contracts/errors.ts'
import type { WhatsAppAccount } from '../../../contracts/dashboard/whatsapp-account.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import type { StoredSecret } from '../rekey.ts'
import { toColumns, verifyPhoneNumber } from './phone-number.ts'
import { changeWhatsAppAccount, findAllWhatsAppAccounts, findWhatsAppAccount, replaceSecret } from './store.ts'
import { requireWhatsAppAccount, toWhatsAppAccount } from './whatsapp-account.ts'

/** The purpose of a stored secret, which is bound to its ciphertext so that it cannot be moved to another row. */

export function accessTokenPurpose(whatsAppAccountId: string): string {
  return `whatsapp_accounts.access_token:${whatsAppAccountId}`
}

export function appSecretPurpose(whatsAppAccountId: string): string {
  return `whatsapp_accounts.app_secret:${whatsAppAccountId}`
}

/** The record that a secret belongs to, for the log. */
export interface SecretOwner {
  accountId: string
  whatsAppAccountId: string
}

/**
 * Decrypts a stored secret. Returns undefined and logs an error if no key decrypts it, so that one lost secret does not
 * stop the work for all other accounts.
 */
export function openSecret(
  { secrets, log }: Pick<Deps, 'secrets' | 'log'>,
  owner: SecretOwner,
  { ciphertext, purpose }: { ciphertext: string; purpose: string },
): string | undefined {
  try {
    return secrets.decrypt(ciphertext, purpose)
  } catch (error) {
    log.error({ err: error, ...owner }, 'could not decrypt a stored secret; run: waybill doctor')
    return undefined
  }
}

/** Returns the access token of a WhatsApp account; undefined if no key decrypts it. */
export function openAccessToken(
  deps: Pick<Deps, 'secrets' | 'log'>,
  owner: SecretOwner,
  ciphertext: string,
): string | undefined {
  return openSecret(deps, owner, { ciphertext, purpose: accessTokenPurpose(owner.whatsAppAccountId) })
}

export function describeUnreadableToken(whatsAppAccountId: string): string {
  return `The access token of the WhatsApp account ${whatsAppAccountId} cannot be decrypted with the configured keys. An operator must restore the key that encrypted it, or add the WhatsApp account again.`
}

const purposes = {
  access_token_encrypted: accessTokenPurpose,
  app_secret_encrypted: appSecretPurpose,
} as const

const columns = ['access_token_encrypted', 'app_secret_encrypted'] as const

/** Returns the access token of every WhatsApp account, and its app secret if it has one. */
export async function listWhatsAppAccountSecrets(db: Kysely<Database>): Promise<StoredSecret[]> {
  const rows = await findAllWhatsAppAccounts(db)
  return rows.flatMap((row) =>
    columns.flatMap((column) => {
      const ciphertext = row[column]
      if (ciphertext === null) return []
      const replace: StoredSecret['replace'] = (db, to) => replaceSecret(db, row, column, { from: ciphertext, to })
      return [{ ownerId: row.id, purpose: purposes[column](row.id), ciphertext, replace }]
    }),
  )
}

export interface NewSecrets {
  accessToken?: string | undefined
  appSecret?: string | undefined
}

/**
 * Replaces secrets. A new access token is verified like that of a new account; then an account that WhatsApp rejected
 * becomes active again, and one that a user deactivated stays inactive. An app secret alone is not verified, so that an
 * expired token does not prevent the replacement of a leaked secret.
 */
export async function replaceSecrets(
  deps: Pick<Deps, 'db' | 'secrets' | 'whatsapp'>,
  accountId: string,
  whatsAppAccountId: string,
  { accessToken, appSecret }: NewSecrets,
): Promise<WhatsAppAccount> {
  if (accessToken === undefined && appSecret === undefined)
    throw new ServiceError('SETTING_REFUSED', 'Nothing to change: pass an access token, an app secret or both.')
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
