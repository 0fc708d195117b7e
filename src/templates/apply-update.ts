import { scheduleSync } from '../accounts/whatsapp/store.ts'
import type { Deps } from '../deps.ts'
import type { TemplateUpdate } from '../whatsapp/callbacks/read-callback.ts'
import { changeTemplate } from './store.ts'

/**
 * Follows what WhatsApp says of a template at once, so that a paused one is not sent again, and has
 * the list read soon: events are not statuses, and the list is the truth (reference, section 8).
 */
export async function applyTemplateUpdate(
  deps: Pick<Deps, 'db'>,
  accountId: string,
  update: TemplateUpdate,
): Promise<void> {
  const { wabaId, name, language, change } = update
  const key = { accountId, wabaId, name, language }
  if (change !== 'resync')
    await changeTemplate(
      deps.db,
      key,
      'status' in change ? { status: change.status } : { quality_score: change.quality },
    )
  await scheduleSync(deps.db, accountId, wabaId)
}
