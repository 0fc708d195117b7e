import type { getTemplate as contract, Template } from '../../contracts/api/template.ts'
import { ServiceError } from '../../contracts/errors.ts'
import type { InputOf } from '../../contracts/procedure.ts'
import type { Caller } from '../accounts/authenticate.ts'
import type { Deps } from '../deps.ts'
import { findTemplate } from './store.ts'
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
    throw new ServiceError(
      'TEMPLATE_NOT_FOUND',
      `There is no template ${JSON.stringify(input.name)} in language ${input.language}.`,
    )
  return toTemplate(row)
}
