import { generateApiKey } from '../auth/api-key.ts'
import type { Deps } from '../deps.ts'
import type { KeyRow } from './store.ts'

/** A key at the one moment when it can be read. */
export interface IssuedKey {
  apiKey: string
  /** The first characters, by which the key is known from now on. */
  start: string
  createdAt: string
}

export function issueKey(
  deps: Pick<Deps, 'now' | 'randomBytes'>,
  accountId: string,
): { issued: IssuedKey; row: KeyRow } {
  const { apiKey, start, hash } = generateApiKey(deps.randomBytes)
  const createdAt = deps.now()
  return {
    issued: { apiKey, start, createdAt: createdAt.toISOString() },
    row: { account_id: accountId, key_hash: hash, start, created_at: createdAt },
  }
}
