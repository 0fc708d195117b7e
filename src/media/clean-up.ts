import type { Deps } from '../deps.ts'
import { deleteExpiredAtWhatsApp } from './at-whatsapp-store.ts'
import { removeFile } from './media.ts'
import { removeLeftovers } from './spool.ts'
import { findRemoved, findUnfinished, forgetRemoved, markExpired } from './store.ts'

const batchSize = 100
/** Longer than any upload takes. */
const abandonedMilliseconds = 60 * 60_000

/** Deletes expired files, and the leftovers of interrupted uploads. */
export async function cleanUpMedia(deps: Pick<Deps, 'db' | 'now' | 'media' | 'log'>): Promise<void> {
  const now = deps.now()
  await markExpired(deps.db, now)
  await deleteExpiredAtWhatsApp(deps.db, now)
  await removeLeftovers(deps.media.limits.spoolDir, now)
  await removeOfAccounts(deps)
  await removeUnfinished(deps, new Date(now.getTime() - abandonedMilliseconds))
}

/** Deletes the files of removed accounts. If the store is unavailable, the next run tries again. */
async function removeOfAccounts({ db, media }: Pick<Deps, 'db' | 'media'>): Promise<void> {
  for (;;) {
    const removed = await findRemoved(db, batchSize)
    for (const { id } of removed) {
      await media.store.delete(id)
      await forgetRemoved(db, id)
    }
    if (removed.length < batchSize) return
  }
}

/** A file that cannot be deleted does not block the others; the next run tries it again. */
async function removeUnfinished(deps: Pick<Deps, 'db' | 'media' | 'log'>, startedBefore: Date): Promise<void> {
  let after = ''
  for (;;) {
    const rows = await findUnfinished(deps.db, { startedBefore, after, limit: batchSize })
    for (const row of rows) {
      after = row.id
      await removeFile(deps, row).catch((error: unknown) =>
        deps.log.warn({ err: error, accountId: row.account_id, mediaId: row.id }, 'could not delete a stored file'),
      )
    }
    if (rows.length < batchSize) return
  }
}
