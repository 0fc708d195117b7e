import { storePhoneNumber } from '../accounts/whatsapp/phone-number.ts'
import { deactivateRefused } from '../accounts/whatsapp/refusals.ts'
import { openAccessToken } from '../accounts/whatsapp/secrets.ts'
import { claimDueSyncs, findWhatsAppAccounts } from '../accounts/whatsapp/store.ts'
import type { Deps } from '../deps.ts'
import { syncWaba } from './sync.ts'

/** WhatsApp allows 200 such calls per hour and WABA (reference, section 5); a sync takes a few. */
const nextSeconds = 30 * 60
const maxClaimed = 20
const wabasAtOnce = 4

type SyncDeps = Pick<Deps, 'db' | 'whatsapp' | 'secrets' | 'now' | 'log'>

/**
 * Syncs templates and numbers of the WABAs that are due, in case a callback was lost. Returns the number of synced
 * WABAs.
 */
export async function syncDueTemplates(deps: SyncDeps): Promise<number> {
  const due = await claimDueSyncs(deps.db, { limit: maxClaimed, nextSeconds })
  const waiting = due.values()
  const work = async () => {
    // All workers share one iterator.
    for (const waba of waiting) await syncOne(deps, waba)
  }
  await Promise.all(Array.from({ length: wabasAtOnce }, work))
  return due.length
}

/** Never fails, so that one unreadable WABA does not block the others. */
async function syncOne(deps: SyncDeps, { accountId, wabaId }: { accountId: string; wabaId: string }): Promise<void> {
  try {
    const outcome = await syncWaba(deps, accountId, wabaId)
    if (!outcome.ok) deps.log.warn({ accountId, wabaId, reason: outcome.reason }, 'could not sync templates')
    await syncNumbers(deps, accountId, wabaId)
  } catch (error) {
    deps.log.warn({ err: error, accountId, wabaId }, 'could not sync templates and numbers of a WABA')
  }
}

async function syncNumbers(deps: SyncDeps, accountId: string, wabaId: string): Promise<void> {
  const rows = await findWhatsAppAccounts(deps.db, accountId)
  for (const row of rows.filter((candidate) => candidate.active && candidate.waba_id === wabaId)) {
    const accessToken = openAccessToken(deps, { accountId, whatsAppAccountId: row.id }, row.access_token_encrypted)
    if (accessToken === undefined) continue
    const outcome = await deps.whatsapp.getPhoneNumber({ phoneNumberId: row.phone_number_id, accessToken })
    if (outcome.ok) await storePhoneNumber(deps, accountId, row.id, outcome.value)
    else if (outcome.accountUnusable) await deactivateRefused(deps, accountId, row.id, outcome.reason)
  }
}
