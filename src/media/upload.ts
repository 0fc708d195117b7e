import type { ImportMediaRequest, Media, MediaFields } from '../../contracts/api/media.ts'
import { ServiceError } from '../../contracts/errors.ts'
import { quotaFacts } from '../../contracts/facts/errors.ts'
import type { Caller } from '../accounts/authenticate.ts'
import { openActiveAccount } from '../whatsapp-accounts/whatsapp-account.ts'
import type { Deps } from '../deps.ts'
import { ensureWhatsAppMediaId, type MediaSender } from './whatsapp-media-ids.ts'
import { downloadProblems, toDownloadError } from './download.ts'
import { nameOfLink, toMegabytes } from './types.ts'
import { removeFile, toMedia } from './media.ts'
import { spool, type SpooledFile } from './spool.ts'
import { completeUpload, findMedia, insertWithinQuota, type MediaRow, renewDuplicate } from './store.ts'
import { StoreUnavailableError } from './object-store.ts'

/** Downloads a file and stores it, under the upload limits of the account. */
export function importMedia(deps: Deps, caller: Caller, input: ImportMediaRequest): Promise<Media> {
  return deps.media.slots.run(caller.accountId, () => uploadLink(deps, caller, input))
}

/** Downloads a file and stores it. The caller must hold an upload slot. */
export async function uploadLink(
  deps: Deps,
  caller: Caller,
  { link, filename, accountId }: ImportMediaRequest,
): Promise<Media> {
  const file = await spoolLink(deps, link)
  return storeUpload(deps, caller, file, { filename: filename ?? nameOfLink(link), accountId })
}

/** Downloads a file, which the caller must discard. Throws a `ServiceError` that says why there is none. */
export async function spoolLink(deps: Pick<Deps, 'media' | 'log'>, link: string): Promise<SpooledFile> {
  const body = await deps.media.downloader.open(link)
  return spool(body, deps.media.limits, downloadProblems).catch((error: unknown) => {
    throw error instanceof StoreUnavailableError ? storeUnavailable(deps, error) : toDownloadError(error)
  })
}

/** Stores a received file and uploads it to WhatsApp. If anything fails, nothing is kept. */
export async function storeUpload(
  deps: Deps,
  caller: Caller,
  file: SpooledFile,
  {
    filename = null,
    accountId: whatsAppAccountId,
  }: { [Name in keyof MediaFields]: MediaFields[Name] | undefined | null },
): Promise<Media> {
  const { accountId } = caller
  try {
    await caller.assertStillAllowed?.()
    const sender = await findSender(deps, accountId, whatsAppAccountId ?? undefined)
    const now = deps.now()
    const row: MediaRow = {
      id: deps.newId('med', now),
      accountId,
      sha256: file.sha256,
      type: file.type,
      size: file.size,
      filename,
      createdAt: now,
      expiresAt: new Date(now.getTime() + deps.media.limits.expirySeconds * 1000),
    }
    const same = await renewDuplicate(deps.db, row)
    if (!same) return toMedia(await storeNew(deps, sender, row, file))
    return toMedia(await storeAgain(deps, sender, same, file))
  } catch (error) {
    throw error instanceof StoreUnavailableError ? storeUnavailable(deps, error) : error
  } finally {
    await file.discard()
  }
}

/** Inserts the row first, so that after any failure, housekeeping knows which file may be in the store. */
async function storeNew(deps: Deps, sender: MediaSender, row: MediaRow, file: SpooledFile): Promise<MediaRow> {
  if (!(await insertWithinQuota(deps.db, row, deps.media.limits.quotaBytes))) throw quotaExceeded(deps, file)
  try {
    await ensureWhatsAppMediaId(deps, sender, { ...file, open: () => Promise.resolve(file.open()) })
    await deps.media.store.put(row.id, file)
    const kept = await completeUpload(deps.db, row, deps.now())
    if (kept.id !== row.id) await removeFile(deps, row)
    return kept
  } catch (error) {
    await removeFile(deps, row).catch((failure: unknown) =>
      deps.log.warn(
        { err: failure, accountId: row.accountId },
        'could not remove a file that was not stored; trying again',
      ),
    )
    throw error
  }
}

/** Replaces the stored bytes: that they are damaged or lost is a reason to upload a file again. */
async function storeAgain(deps: Deps, sender: MediaSender, row: MediaRow, file: SpooledFile): Promise<MediaRow> {
  await ensureWhatsAppMediaId(deps, sender, { ...file, open: () => Promise.resolve(file.open()) })
  await deps.media.store.put(row.id, file)
  const [kept] = await findMedia(deps.db, row.accountId, [row.id], deps.now())
  if (kept) return kept
  // Deleted in the meantime: nothing else would remove the bytes. The store can have moved them, so they cannot be stored
  // as a new file.
  await deps.media.store.delete(row.id)
  throw new ServiceError(
    'SERVICE_UNAVAILABLE',
    'The same file was deleted while it was uploaded again. Nothing was stored. Try again.',
    { retryAfterSeconds: 1 },
  )
}

/** Returns the requested account, or the default one. */
async function findSender(deps: Deps, accountId: string, whatsAppAccountId: string | undefined): Promise<MediaSender> {
  const { row, accessToken } = await openActiveAccount(deps, accountId, whatsAppAccountId)
  return {
    accountId,
    whatsAppAccountId: row.id,
    phoneNumberId: row.phoneNumberId,
    accessToken,
    accessTokenEncrypted: row.accessTokenEncrypted,
  }
}

function quotaExceeded({ media }: Pick<Deps, 'media'>, { size }: SpooledFile): ServiceError {
  return new ServiceError(
    'MEDIA_QUOTA_EXCEEDED',
    quotaFacts.media({ size: toMegabytes(size), quota: toMegabytes(media.limits.quotaBytes) }),
  )
}

/** Only the log contains the cause, because it names hosts and folders. */
export function storeUnavailable({ log }: Pick<Deps, 'log'>, error: StoreUnavailableError): ServiceError {
  log.error({ err: error }, 'the media store is unavailable')
  return new ServiceError(
    'SERVICE_UNAVAILABLE',
    'The media store is unavailable. Nothing was stored or sent. Try again in a moment.',
    { retryAfterSeconds: 5 },
  )
}
