import { claimDueSyncs } from '../whatsapp-accounts/store.ts'
import type { Deps } from '../deps.ts'
import { workOnDue } from '../platform/work-on-due.ts'
import { syncWaba } from './sync.ts'

/** WhatsApp allows 200 such calls per hour and WABA (reference, section 5); a sync takes a few. */
const nextSeconds = 30 * 60
const maxClaimed = 20
/** Enough for 20,000 WABAs of one process, if WhatsApp takes a second for a sync. */
const wabasAtOnce = 16

type SyncDeps = Pick<Deps, 'db' | 'whatsapp' | 'secrets' | 'now' | 'log'>

/**
 * Syncs the templates of the WABAs that are due, in case a callback was lost. Returns the number of synced
 * WABAs.
 */
export async function syncDueTemplates(deps: SyncDeps, stopping?: AbortSignal): Promise<number> {
  const claim = () => claimDueSyncs(deps.db, { limit: maxClaimed, nextSeconds })
  return (await workOnDue(claim, wabasAtOnce, (waba) => syncOne(deps, waba), stopping)).length
}

/** Never fails, so that one unreadable WABA does not block the others. */
async function syncOne(deps: SyncDeps, { accountId, wabaId }: { accountId: string; wabaId: string }): Promise<void> {
  try {
    const outcome = await syncWaba(deps, accountId, wabaId)
    if (!outcome.ok) deps.log.warn({ accountId, wabaId, reason: outcome.reason }, 'could not sync templates')
  } catch (error) {
    deps.log.warn({ err: error, accountId, wabaId }, 'could not sync the templates of a WABA')
  }
}
