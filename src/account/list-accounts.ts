import type { Deps } from '../deps.ts'
import { toAccount, type Account } from './account.ts'
import { findAccounts } from './store.ts'

export async function listAccounts(deps: Pick<Deps, 'db'>): Promise<Account[]> {
  const rows = await findAccounts(deps.db)
  return rows.map(toAccount)
}
