import { line } from '../../contracts/fields.ts'
import type { Deps } from '../deps.ts'
import { requireAccount, type Account } from './account.ts'
import { OperatorError } from './operator-error.ts'
import { insertAccount } from './store.ts'

const Name = line(200)

export async function createAccount(
  deps: Pick<Deps, 'db' | 'now' | 'newId'>,
  input: { name: string },
): Promise<Account> {
  const name = Name.safeParse(input.name.trim())
  if (!name.success) throw new OperatorError(`The name of an account ${name.error.issues[0]?.message}.`)
  const id = deps.newId('acc')
  await insertAccount(deps.db, { id, name: name.data, created_at: deps.now() })
  return requireAccount(deps.db, id)
}
