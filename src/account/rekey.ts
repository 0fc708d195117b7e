import type { Deps } from '../deps.ts'
import { accessTokenPurpose, appSecretPurpose } from './secret-purposes.ts'
import { findAllWhatsAppAccounts, replaceSecret, type WhatsAppAccountRow } from './whatsapp-account-store.ts'

type SecretColumn = 'access_token_encrypted' | 'app_secret_encrypted'

const purposes = {
  access_token_encrypted: accessTokenPurpose,
  app_secret_encrypted: appSecretPurpose,
} satisfies Record<SecretColumn, (id: string) => string>

export interface StoredSecret {
  row: WhatsAppAccountRow
  column: SecretColumn
  purpose: string
  ciphertext: string
}

/** Reads all accounts: a key of ours is rotated for everybody at once. */
export async function listStoredSecrets(deps: Pick<Deps, 'db'>): Promise<StoredSecret[]> {
  const rows = await findAllWhatsAppAccounts(deps.db)
  return rows.flatMap((row) => [...secretOf(row, 'access_token_encrypted'), ...secretOf(row, 'app_secret_encrypted')])
}

/** Encrypts every stored secret under the first key of the ring; the other keys can go afterwards. */
export async function rekey(deps: Pick<Deps, 'db' | 'secrets'>): Promise<{ secrets: number; rekeyed: number }> {
  const secrets = await listStoredSecrets(deps)
  let rekeyed = 0
  for (const { row, column, purpose, ciphertext } of secrets) {
    if (deps.secrets.isCurrent(ciphertext)) continue
    const renewed = deps.secrets.encrypt(deps.secrets.decrypt(ciphertext, purpose), purpose)
    if (await replaceSecret(deps.db, row, column, { from: ciphertext, to: renewed })) rekeyed += 1
  }
  return { secrets: secrets.length, rekeyed }
}

function secretOf(row: WhatsAppAccountRow, column: SecretColumn): StoredSecret[] {
  const ciphertext = row[column]
  return ciphertext === null ? [] : [{ row, column, purpose: purposes[column](row.id), ciphertext }]
}
