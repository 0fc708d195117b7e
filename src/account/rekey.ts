import type { Deps } from '../deps.ts'
import type { ListSecrets } from './stored-secret.ts'

/** Encrypts every stored secret under the first key of the ring; the other keys can go afterwards. */
export async function rekey(
  deps: Pick<Deps, 'db' | 'secrets'>,
  listSecrets: ListSecrets,
): Promise<{ secrets: number; rekeyed: number }> {
  const secrets = await listSecrets(deps.db)
  let rekeyed = 0
  for (const { ciphertext, purpose, replace } of secrets) {
    if (deps.secrets.isCurrent(ciphertext)) continue
    const renewed = deps.secrets.encrypt(deps.secrets.decrypt(ciphertext, purpose), purpose)
    if (await replace(deps.db, renewed)) rekeyed += 1
  }
  return { secrets: secrets.length, rekeyed }
}
