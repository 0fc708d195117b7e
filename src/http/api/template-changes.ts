import type { Deps } from '../../deps.ts'
import { assertTemplateChangesEnabled } from '../../templates/making/maker.ts'
import { audited } from '../../users/audit/audit.ts'
import type { ApiCall } from './authorize.ts'

/** Unlike a send, a change of a template outlives its request, so the audit log has it whoever made it. */
export async function changeByKey<Result>(
  deps: Deps,
  { accountId, address }: ApiCall,
  what: string,
  change: () => Promise<Result>,
): Promise<Result> {
  await assertTemplateChangesEnabled(deps, accountId)
  return audited(deps, { accountId, who: 'API key', what, address }, change)
}
