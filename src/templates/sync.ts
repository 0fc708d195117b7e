import { ServiceError } from '../../contracts/errors.ts'
import { inEnglish } from '../../contracts/facts/fact.ts'
import { requireAccount } from '../accounts/account.ts'
import type { Deps } from '../deps.ts'
import { readDatabaseClock } from '../platform/db/clock.ts'
import { processDue } from '../platform/process-due.ts'
import { deactivateRefused } from '../whatsapp-accounts/change.ts'
import { openAccessToken, unreadableToken } from '../whatsapp-accounts/secrets.ts'
import { claimDueSyncs, findWhatsAppAccounts, type WhatsAppAccountRow } from '../whatsapp-accounts/store.ts'
import { noWhatsAppAccount } from '../whatsapp-accounts/whatsapp-account.ts'
import type { ListedTemplate } from '../whatsapp/template-management.ts'
import { findWabaId } from './store.ts'
import { type Listing, storeListing } from './sync-store.ts'

type SyncDeps = Pick<Deps, 'db' | 'whatsapp' | 'secrets' | 'now' | 'log'>

export interface SyncResult {
  synced: number
  approved: number
}

export type SyncOutcome = ({ ok: true } & SyncResult) | { ok: false; reason: string }

/**
 * Reads the templates of every WABA in which the account has an active WhatsApp account. All of them are stored in one
 * transaction, or none if a listing fails.
 */
export async function syncTemplates(deps: SyncDeps, accountId: string): Promise<SyncResult> {
  await requireAccount(deps.db, accountId)
  const whatsAppAccounts = await findActive(deps, accountId)
  if (whatsAppAccounts.length === 0)
    throw new ServiceError(
      'SETTING_REFUSED',
      `Account ${accountId} has no active WhatsApp account. Add or activate one.`,
      {
        remedy: `List them: waybill whatsapp list ${accountId}`,
      },
    )
  const outcome = await syncWith(deps, accountId, whatsAppAccounts)
  if (!outcome.ok)
    throw new ServiceError(
      'SETTING_REFUSED',
      `The templates could not be read from WhatsApp: ${outcome.reason}. Nothing was changed.`,
    )
  return { synced: outcome.synced, approved: outcome.approved }
}

/** Syncs a single WABA, for example after a send found that WhatsApp no longer has a template. */
export async function syncWaba(deps: SyncDeps, accountId: string, wabaId: string): Promise<SyncOutcome> {
  const active = await findActive(deps, accountId)
  const whatsAppAccounts = active.filter((whatsAppAccount) => whatsAppAccount.wabaId === wabaId)
  if (whatsAppAccounts.length === 0) return { ok: false, reason: `no active WhatsApp account in WABA ${wabaId}` }
  return syncWith(deps, accountId, whatsAppAccounts)
}

async function syncWith(
  deps: SyncDeps,
  accountId: string,
  whatsAppAccounts: WhatsAppAccountRow[],
): Promise<SyncOutcome> {
  const listings: Listing[] = []
  for (const [wabaId, sameWaba] of Map.groupBy(whatsAppAccounts, (whatsAppAccount) => whatsAppAccount.wabaId)) {
    const listing = await list(deps, { accountId, wabaId, whatsAppAccounts: sameWaba })
    if (typeof listing === 'string') return { ok: false, reason: listing }
    listings.push(listing)
  }
  await store(deps, accountId, listings)
  return { ok: true, ...count(listings) }
}

/** The last transaction of each account that this process has begun. */
const storing = new Map<string, Promise<void>>()

/**
 * Syncs of an account that overlap would wait for the locks of the first, each with one of the connections for
 * transactions, of which there are few. Here, they wait without one.
 */
async function store({ db }: SyncDeps, accountId: string, listings: readonly Listing[]): Promise<void> {
  const run = () =>
    db.transaction().execute(async (trx) => {
      for (const listing of listings) await storeListing(trx, listing)
    })
  const stored = (storing.get(accountId) ?? Promise.resolve()).then(run, run)
  storing.set(accountId, stored)
  await stored.finally(() => {
    if (storing.get(accountId) === stored) storing.delete(accountId)
  })
}

/**
 * Lists templates with any valid token of the WABA. A token that cannot be decrypted is skipped, and one that WhatsApp
 * rejects deactivates its account. Returns a reason if no token works.
 */
async function list(
  deps: SyncDeps,
  {
    accountId,
    wabaId,
    whatsAppAccounts,
  }: { accountId: string; wabaId: string; whatsAppAccounts: WhatsAppAccountRow[] },
): Promise<Listing | string> {
  let reason = ''
  for (const whatsAppAccount of whatsAppAccounts) {
    const listedAt = await readDatabaseClock(deps.db)
    const ref = { accountId, whatsAppAccountId: whatsAppAccount.id }
    const accessToken = openAccessToken(deps, ref, whatsAppAccount.accessTokenEncrypted)
    if (accessToken === undefined) {
      reason = inEnglish(unreadableToken(whatsAppAccount.id))
      continue
    }
    const outcome = await deps.whatsapp.listTemplates({ wabaId, accessToken })
    if (outcome.ok) return { accountId, wabaId, listedAt, templates: uniqueTemplates(outcome.value) }
    reason = outcome.reason
    if (!outcome.accountUnusable || !outcome.error) return reason
    await deactivateRefused(deps, whatsAppAccount, outcome.error)
  }
  return reason
}

/** A template can be listed twice if a page boundary moves during the read; the later copy is newer. */
function uniqueTemplates(templates: ListedTemplate[]): ListedTemplate[] {
  return [...new Map(templates.map((template) => [`${template.name}\n${template.language}`, template])).values()]
}

async function findActive(deps: Pick<Deps, 'db'>, accountId: string): Promise<WhatsAppAccountRow[]> {
  const rows = await findWhatsAppAccounts(deps.db, accountId)
  return rows.filter((row) => row.active)
}

function count(listings: Listing[]): SyncResult {
  const templates = listings.flatMap((listing) => listing.templates)
  return {
    synced: templates.length,
    approved: templates.filter((template) => template.status === 'APPROVED').length,
  }
}

/** Returns the WABA of a template request. Templates of an inactive WhatsApp account can still be read. */
export async function requireWabaId(
  deps: Pick<Deps, 'db'>,
  accountId: string,
  whatsAppAccountId: string | undefined,
): Promise<string> {
  const wabaId = await findWabaId(deps.db, accountId, whatsAppAccountId)
  if (wabaId !== undefined) return wabaId
  throw noWhatsAppAccount(whatsAppAccountId)
}

const maxClaimed = 20
/** Enough for 20,000 WABAs of one process, if WhatsApp takes a second for a sync. */
const wabasAtOnce = 16

type PeriodicSyncDeps = Pick<Deps, 'db' | 'whatsapp' | 'secrets' | 'now' | 'log'>

/**
 * Syncs the templates of the WABAs that are due, in case a callback was lost. Returns the number of synced
 * WABAs.
 */
export async function syncDueTemplates(deps: PeriodicSyncDeps, stopping?: AbortSignal): Promise<number> {
  const claim = () => claimDueSyncs(deps.db, { limit: maxClaimed })
  return (await processDue(claim, wabasAtOnce, (waba) => syncOne(deps, waba), stopping)).length
}

/** Never fails, so that one unreadable WABA does not block the others. */
async function syncOne(
  deps: PeriodicSyncDeps,
  { accountId, wabaId }: { accountId: string; wabaId: string },
): Promise<void> {
  try {
    const outcome = await syncWaba(deps, accountId, wabaId)
    if (!outcome.ok) deps.log.warn({ accountId, wabaId, reason: outcome.reason }, 'could not sync templates')
  } catch (error) {
    deps.log.warn({ err: error, accountId, wabaId }, 'could not sync the templates of a WABA')
  }
}
