import type { InputOf } from '../../contracts/procedure.ts'
import type { listTemplates as contract, TemplatePage } from '../../contracts/template.ts'
import type { Caller } from '../auth/authenticate.ts'
import type { Deps } from '../deps.ts'
import { decodeCursor, encodeCursor } from './cursor.ts'
import { requireWabaId } from './require-waba-id.ts'
import { findTemplates } from './store.ts'
import { toTemplate } from './to-template.ts'

export async function listTemplates(
  deps: Pick<Deps, 'db'>,
  { accountId }: Caller,
  input: InputOf<typeof contract>,
): Promise<TemplatePage> {
  const wabaId = await requireWabaId(deps, accountId, input.accountId)
  const after = input.cursor === undefined ? undefined : decodeCursor(input.cursor)
  // One more than asked for tells whether there is a next page.
  const rows = await findTemplates(deps.db, { accountId, wabaId, status: input.status, after, limit: input.limit + 1 })
  const items = rows.slice(0, input.limit).map(toTemplate)
  const last = items.at(-1)
  return { items, ...(rows.length > input.limit && last && { nextCursor: encodeCursor(last) }) }
}
