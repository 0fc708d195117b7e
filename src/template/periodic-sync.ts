import { markUnusable } from '../account/mark-unusable.ts'
import { accessTokenPurpose } from '../account/secret-purposes.ts'
import { changeWhatsAppAccount, claimDueSyncs, findWhatsAppAccounts } from '../account/whatsapp-account-store.ts'
import type { Deps } from '../deps.ts'
import { syncWaba } from './sync.ts'

/** WhatsApp allows 200 such calls an hour for a WABA (reference, section 5); this takes a few. */
const nextSeconds = 30 * 60
const wabasAtOnce = 20

/**
 * Reads templates and numbers of the WABAs that are due, which corrects what a lost callback missed.
 * Returns how many WABAs were read.
 */
export async function syncWhatIsDue(deps: Pick<Deps, 'db' | 'whatsapp' | 'secrets' | 'now' | 'log'>): Promise<number> {
  const due = await claimDueSyncs(deps.db, { limit: wabasAtOnce, nextSeconds })
  for (const { accountId, wabaId } of due) {
    const outcome = await syncWaba(deps, accountId, wabaId)
    if (!outcome.ok) deps.log.warn({ accountId, wabaId, reason: outcome.reason }, 'the templates could not be synced')
    await syncNumbers(deps, accountId, wabaId)
  }
  return due.length
}

async function syncNumbers(
  deps: Pick<Deps, 'db' | 'whatsapp' | 'secrets'>,
  accountId: string,
  wabaId: string,
): Promise<void> {
  const rows = await findWhatsAppAccounts(deps.db, accountId)
  for (const row of rows.filter((candidate) => candidate.active && candidate.waba_id === wabaId)) {
    const accessToken = deps.secrets.decrypt(row.access_token_encrypted, accessTokenPurpose(row.id))
    const outcome = await deps.whatsapp.getPhoneNumber({ phoneNumberId: row.phone_number_id, accessToken })
    if (outcome.ok)
      await changeWhatsAppAccount(deps.db, accountId, row.id, {
        quality_rating: outcome.value.qualityRating ?? null,
        throughput_level: outcome.value.throughput ?? null,
      })
    else if (outcome.accountUnusable) await markUnusable(deps, accountId, row.id, outcome.reason)
  }
}
