import type { getTemplate as contract, Template } from '../../contracts/api/template.ts'
import type { InputOf } from '../../contracts/procedure.ts'
import type { Caller } from '../accounts/authenticate.ts'
import type { Deps } from '../deps.ts'
import { findTemplate } from './store.ts'
import { describeUnknownTemplate } from './suggest.ts'
import { requireWabaId } from './sync.ts'
import { toTemplate } from './template.ts'

export async function getTemplate(
  deps: Pick<Deps, 'db'>,
  { accountId }: Caller,
  input: InputOf<typeof contract>,
): Promise<Template> {
  const wabaId = await requireWabaId(deps, accountId, input.accountId)
  const row = await findTemplate(deps.db, { accountId, wabaId, name: input.name, language: input.language })
  if (!row)
    throw await describeUnknownTemplate(deps.db, { accountId, wabaId, name: input.name, language: input.language })
  return toTemplate(row)
}
