import type { Kysely } from 'kysely'
import { connectFacts } from '../../contracts/facts/connect.ts'
import type { Fact } from '../../contracts/facts/fact.ts'
import type { Deps } from '../deps.ts'
import { replaceCiphertext } from '../platform/db/ciphertext.ts'
import type { Database } from '../platform/db/schema.ts'
import type { StoredSecret } from '../accounts/rekey.ts'
import { findAllWhatsAppAccounts, type WhatsAppAccountRef } from './store.ts'

/** The purpose of a stored secret, which is bound to its ciphertext so that it cannot be moved to another row. */
export function accessTokenPurpose(whatsAppAccountId: string): string {
  return `whatsapp_accounts.access_token:${whatsAppAccountId}`
}

export function appSecretPurpose(whatsAppAccountId: string): string {
  return `whatsapp_accounts.app_secret:${whatsAppAccountId}`
}

/**
 * Decrypts a stored secret. Returns undefined and logs an error if no key decrypts it, so that one lost secret does not
 * stop the work for all other accounts.
 */
export function openSecret(
  { secrets, log }: Pick<Deps, 'secrets' | 'log'>,
  ref: WhatsAppAccountRef,
  { ciphertext, purpose }: { ciphertext: string; purpose: string },
): string | undefined {
  try {
    return secrets.decryptCached(ciphertext, purpose)
  } catch (error) {
    log.error({ err: error, ...ref }, 'could not decrypt a stored secret; run: waybill doctor')
    return undefined
  }
}

/** Returns the access token of a WhatsApp account; undefined if no key decrypts it. */
export function openAccessToken(
  deps: Pick<Deps, 'secrets' | 'log'>,
  ref: WhatsAppAccountRef,
  ciphertext: string,
): string | undefined {
  return openSecret(deps, ref, { ciphertext, purpose: accessTokenPurpose(ref.whatsAppAccountId) })
}

/** Returns the account's own app secret; undefined if it has none or no key decrypts it. */
export function openAppSecret(
  deps: Pick<Deps, 'secrets' | 'log'>,
  ref: WhatsAppAccountRef,
  { appSecretEncrypted: ciphertext }: { appSecretEncrypted: string | null },
): string | undefined {
  if (ciphertext === null) return undefined
  return openSecret(deps, ref, { ciphertext, purpose: appSecretPurpose(ref.whatsAppAccountId) })
}

export function unreadableToken(whatsAppAccountId: string): Fact {
  return connectFacts.tokenUnreadable({ whatsAppAccountId })
}

const places = [
  { field: 'accessTokenEncrypted', column: 'access_token_encrypted', purposeOf: accessTokenPurpose },
  { field: 'appSecretEncrypted', column: 'app_secret_encrypted', purposeOf: appSecretPurpose },
] as const

/** Returns the access token of every WhatsApp account, and its app secret if it has one. */
export async function listWhatsAppAccountSecrets(db: Kysely<Database>): Promise<StoredSecret[]> {
  const rows = await findAllWhatsAppAccounts(db)
  return rows.flatMap((row) =>
    places.flatMap(({ field, column, purposeOf }) => {
      const ciphertext = row[field]
      if (ciphertext === null) return []
      const replace: StoredSecret['replace'] = (trx, to) =>
        replaceCiphertext(trx, { table: 'whatsapp_accounts', column, key: { id: row.id } }, { from: ciphertext, to })
      return [{ recordId: row.id, purpose: purposeOf(row.id), ciphertext, replace }]
    }),
  )
}
