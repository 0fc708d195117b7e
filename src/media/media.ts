import type { z } from 'zod'
import type { DeletedMedia, Media } from '../../contracts/api/media.ts'
import { ServiceError } from '../../contracts/errors.ts'
import type { Caller } from '../accounts/authenticate.ts'
import type { Deps } from '../deps.ts'
import { readEarlierClock } from '../platform/db/clock.ts'
import { openAccessToken } from '../whatsapp-accounts/secrets.ts'
import { findByPhoneNumberId } from '../whatsapp-accounts/store.ts'
import { logUndeleted } from './whatsapp-media-ids.ts'
import { deleteExpiredWhatsAppMediaIds, deleteWhatsAppMediaIds } from './whatsapp-media-ids-store.ts'
import {
  deleteRemovedMediaRow,
  findDeletable,
  findFilesOfRemovedAccounts,
  findMedia,
  hasUsableDuplicate,
  markDeleted,
  markExpired,
  type MediaRow,
  type Page,
  removeRow,
} from './store.ts'
import { kindOfType } from './types.ts'

export function toMedia(row: MediaRow): Media {
  return {
    mediaId: row.id,
    kind: kindOfType(row.type),
    type: row.type,
    size: row.size,
    sha256: row.sha256,
    ...(row.filename !== null && { filename: row.filename }),
    createdAt: row.createdAt.toISOString(),
    expiresAt: row.expiresAt.toISOString(),
  }
}

export async function getMedia(
  deps: Pick<Deps, 'db' | 'now'>,
  { accountId }: Caller,
  { mediaId }: { mediaId: string },
): Promise<Media> {
  const [row] = await findMedia(deps.db, accountId, [mediaId], deps.now())
  if (!row) throw mediaNotFound()
  return toMedia(row)
}

/** After this, no send finds the file. If a deletion fails, housekeeping or WhatsApp deletes the file later. */
export async function deleteMedia(
  deps: Pick<Deps, 'db' | 'now' | 'media' | 'whatsapp' | 'secrets' | 'log'>,
  { accountId }: Caller,
  { mediaId }: { mediaId: string },
): Promise<z.output<typeof DeletedMedia>> {
  const row = await markDeleted(deps.db, accountId, mediaId, deps.now())
  if (!row) throw mediaNotFound()
  await removeFile(deps, row).catch((error: unknown) =>
    deps.log.warn({ err: error, accountId, mediaId }, 'could not delete a file from the object store; trying again'),
  )
  if (!(await hasUsableDuplicate(deps.db, row, deps.now()))) await deleteAtWhatsApp(deps, row)
  return { mediaId }
}

/** Deletes the row last, so that a file whose deletion failed is found again. */
export async function removeFile(
  { db, media }: Pick<Deps, 'db' | 'media'>,
  row: Pick<MediaRow, 'id' | 'accountId'>,
): Promise<void> {
  await media.store.delete(row.id)
  await removeRow(db, row)
}

async function deleteAtWhatsApp(
  deps: Pick<Deps, 'db' | 'whatsapp' | 'secrets' | 'log'>,
  { accountId, sha256, type }: MediaRow,
): Promise<void> {
  const uploads = await deleteWhatsAppMediaIds(deps.db, { accountId, sha256, type })
  for (const { phoneNumberId, waMediaId } of uploads) {
    const account = await findByPhoneNumberId(deps.db, phoneNumberId)
    if (waMediaId === null || account?.accountId !== accountId) continue
    const owner = { accountId, whatsAppAccountId: account.id }
    const accessToken = openAccessToken(deps, owner, account.accessTokenEncrypted)
    const deleted =
      accessToken !== undefined && (await deps.whatsapp.deleteMedia({ phoneNumberId, accessToken }, waMediaId))
    if (!deleted) logUndeleted(deps.log, owner)
  }
}

function mediaNotFound(): ServiceError {
  return new ServiceError('MEDIA_NOT_FOUND', 'mediaId: this account has no file with this ID, or it has expired.')
}

const batchSize = 100
/** Longer than any upload takes. */
const abandonedMilliseconds = 60 * 60_000
/** So many failures of a run mean that the store is unavailable, and each can take seconds. */
const maxFailures = 100

/** Deletes expired files, and the stored files of removed accounts and of uploads that were not completed. */
export async function cleanUpMedia(deps: Pick<Deps, 'db' | 'media' | 'log' | 'now'>): Promise<void> {
  const { db, media } = deps
  const now = await readEarlierClock(db, deps.now)
  await markExpired(db, now)
  await deleteExpiredWhatsAppMediaIds(db, now)
  const ofRemovedAccounts = removeEach(
    deps,
    (page) => findFilesOfRemovedAccounts(db, page),
    async ({ id }) => {
      await media.store.delete(id)
      await deleteRemovedMediaRow(db, id)
    },
  )
  const startedBefore = new Date(now.getTime() - abandonedMilliseconds)
  const ofAccounts = removeEach(
    deps,
    (page) => findDeletable(db, startedBefore, page),
    (row) => removeFile(deps, row),
  )
  for (const result of await Promise.allSettled([ofRemovedAccounts, ofAccounts]))
    if (result.status === 'rejected') throw result.reason
}

/**
 * A file that cannot be deleted does not block the others; the next run tries it again. Throws if it gives up.
 */
async function removeEach<Row extends { id: string; accountId?: string }>(
  { log }: Pick<Deps, 'log'>,
  find: (page: Page) => Promise<Row[]>,
  remove: (row: Row) => Promise<void>,
): Promise<void> {
  let after = ''
  let failures = 0
  for (;;) {
    const rows = await find({ after, limit: batchSize })
    for (const row of rows) {
      after = row.id
      try {
        await remove(row)
      } catch (error) {
        log.warn({ err: error, accountId: row.accountId, mediaId: row.id }, 'could not delete a stored file')
        if (++failures === maxFailures) throw error
      }
    }
    if (rows.length < batchSize) return
  }
}
