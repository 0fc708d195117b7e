import type { Kysely } from 'kysely'
import { ServiceError } from '../../../contracts/errors.ts'
import type { WhatsAppAccount } from '../../../contracts/dashboard/whatsapp-account.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import type { StoredSecret } from '../rekey.ts'
import { toColumns, verifyPhoneNumber } from './phone-number.ts'
import { changeWhatsAppAccount, findAllWhatsAppAccounts, findWhatsAppAccount, replaceSecret } from './store.ts'
import { requireWhatsAppAccount, toWhatsAppAccount } from './whatsapp-account.ts'

/** What a stored secret is for: bound to its ciphertext, so that it cannot be moved to another row. */

export function accessTokenPurpose(whatsAppAccountId: string): string {
  return `whatsapp_accounts.access_token:${whatsAppAccountId}`
}

export function appSecretPurpose(whatsAppAccountId: string): string {
  return `whatsapp_accounts.app_secret:${whatsAppAccountId}`
}

/** Whose secret it is, for whoever reads the log. */
export interface SecretOwner {
  accountId: string
  whatsAppAccountId: string
}

/**
 * A stored secret in the clear. Undefined when no key of ours opens it, which the log tells: one lost
 * secret must not stop the work for everybody else.
 */
export function openSecret(
  { secrets, log }: Pick<Deps, 'secrets' | 'log'>,
  owner: SecretOwner,
  { ciphertext, purpose }: { ciphertext: string; purpose: string },
): string | undefined {
  try {
    return secrets.decrypt(ciphertext, purpose)
  } catch (error) {
    log.error({ err: error, ...owner }, 'a stored secret cannot be decrypted; see: waybill doctor')
    return undefined
  }
}

/** The token that a WhatsApp account sends and reads with; undefined when no key of ours opens it. */
export function openAccessToken(
  deps: Pick<Deps, 'secrets' | 'log'>,
  owner: SecretOwner,
  ciphertext: string,
): string | undefined {
  return openSecret(deps, owner, { ciphertext, purpose: accessTokenPurpose(owner.whatsAppAccountId) })
}

export function describeUnreadableToken(whatsAppAccountId: string): string {
  return `The access token of the WhatsApp account ${whatsAppAccountId} cannot be decrypted with the keys of this service. Its operator has to add the key that encrypted it, or the WhatsApp account anew.`
}

const purposes = {
  access_token_encrypted: accessTokenPurpose,
  app_secret_encrypted: appSecretPurpose,
} as const

const columns = ['access_token_encrypted', 'app_secret_encrypted'] as const

/** The access token of every WhatsApp account, and its app secret where it has one. */
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
    throw new ServiceError(
      'SETTING_REFUSED',
      'There is nothing to change: give an access token, an app secret, or both.',
    )
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
