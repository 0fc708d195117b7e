import type { Deps } from '../../deps.ts'
import { renewContent } from './content.ts'
import { readContents, replaceContents } from './store.ts'

export interface RekeyedContents {
  stored: number
  rekeyed: number
  /** Contents that no key of this server decrypts. They expire like others. */
  unreadable: number
}

/**
 * Encrypts the contents of messages with the current key. There can be millions, so they are read in pages. Reads all
 * accounts, because they share the keys.
 */
export async function rekeyContents({ db, secrets }: Pick<Deps, 'db' | 'secrets'>): Promise<RekeyedContents> {
  const result: RekeyedContents = { stored: 0, rekeyed: 0, unreadable: 0 }
  for await (const rows of readContents(db)) {
    const old = rows.filter(({ ciphertext }) => !secrets.isCurrent(ciphertext))
    const changes = old.flatMap((row) => {
      const renewed = renewContent(secrets, row, row.ciphertext)
      return renewed === undefined ? [] : [{ ...row, renewed }]
    })
    result.stored += rows.length
    result.rekeyed += await replaceContents(db, changes)
    result.unreadable += old.length - changes.length
  }
  return result
}
