import type { Deps } from '../../deps.ts'
import { assertTemplateChangesEnabled } from '../../templates/changes/template-account.ts'
import { audited } from '../../users/audit/audit.ts'
import type { ApiCall } from './authorize.ts'

/** Unlike a send, a template change has lasting effects, so the audit log records it even when an API key makes it. */
export async function changeByKey<Result>(
  deps: Deps,
  { accountId, address }: ApiCall,
  what: string,
  change: () => Promise<Result>,
): Promise<Result> {
  await assertTemplateChangesEnabled(deps, accountId)
  return audited(deps, { accountId, who: 'API key', what, address }, change)
}
