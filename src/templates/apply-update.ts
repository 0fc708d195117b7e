import { scheduleSync } from '../accounts/whatsapp/store.ts'
import type { Deps } from '../deps.ts'
import type { TemplateUpdate } from '../whatsapp/callbacks/read-callback.ts'
import { changeTemplate } from './store.ts'

/**
 * Applies a reported template change immediately, so that a paused template is not sent, and schedules a sync: events
 * are not authoritative, the list is (reference, section 8).
 */
export async function applyTemplateUpdate(
  deps: Pick<Deps, 'db'>,
  accountId: string,
  update: TemplateUpdate,
): Promise<void> {
  const { wabaId, name, language, change } = update
  const key = { accountId, wabaId, name, language }
  if (change !== 'resync') await changeTemplate(deps.db, key, toColumns(change))
  await scheduleSync(deps.db, accountId, wabaId)
}

function toColumns(change: Exclude<TemplateUpdate['change'], 'resync'>) {
  if ('quality' in change) return { quality_score: change.quality }
  if ('category' in change) return { category: change.category }
  // Every other status ends an earlier rejection.
  return { status: change.status, rejected_reason: change.status === 'REJECTED' ? (change.reason ?? null) : null }
}
