import { invalidField, ServiceError } from '../../contracts/errors.ts'
import type { MediaKind } from '../../contracts/api/media.ts'
import type { Deps } from '../deps.ts'
import { ensureAtWhatsApp, type MediaSender, type MediaSource, unavailable } from './at-whatsapp.ts'
import { findAtWhatsApp } from './at-whatsapp-store.ts'
import { findMedia, type MediaRow } from './store.ts'
import { StoreUnavailableError } from './object-store.ts'
import { kindOfType } from './types.ts'
import { storeUnavailable } from './upload.ts'

/** A field of a send that names an uploaded file. */
export interface NamedMedia {
  mediaId: string
  /** Such as `cards[1].header.image.mediaId`. */
  path: string
  kind: MediaKind
}

const defaultSendWaitMilliseconds = 20_000

/** Finds the files that a send names. Throws a VALIDATION_ERROR if one is unknown or of another kind. */
export async function findNamedMedia(
  deps: Pick<Deps, 'db' | 'now'>,
  accountId: string,
  named: readonly NamedMedia[],
): Promise<Map<string, MediaRow>> {
  const rows = await findMedia(deps.db, accountId, [...new Set(named.map(({ mediaId }) => mediaId))], deps.now())
  const byId = new Map(rows.map((row) => [row.id, row]))
  for (const { mediaId, path, kind } of named) {
    const row = byId.get(mediaId)
    if (!row) throw invalidField(path, 'this account has no file with this ID, or it has expired; upload it again.')
    const actual = kindOfType(row.type)
    if (actual !== kind) throw invalidField(path, `the file is of type ${row.type}, which is no ${kind}.`)
  }
  return byId
}

/** Returns WhatsApp's IDs of the files, by our IDs. Uploads the files that WhatsApp does not have for this number. */
export async function ensureNamedMedia(
  deps: Deps,
  sender: MediaSender,
  files: ReadonlyMap<string, MediaRow>,
): Promise<Map<string, string>> {
  const rows = [...files.values()]
  const known = await findAtWhatsApp(deps.db, {
    accountId: sender.accountId,
    phoneNumberId: sender.phoneNumberId,
    hashes: rows.map(({ sha256 }) => sha256),
    now: deps.now(),
  })
  const ids = new Map<string, string>()
  const missing: MediaRow[] = []
  for (const row of rows) {
    const found = known.find(({ sha256, type }) => sha256 === row.sha256 && type === row.type)
    if (found) ids.set(row.id, found.waMediaId)
    else missing.push(row)
  }
  if (missing.length === 0) return ids
  const uploaded = await uploadMissing(deps, sender, missing)
  return new Map([...ids, ...uploaded])
}

/** An upload, here or in another process, can take minutes. A send times out earlier, but the upload continues. */
async function uploadMissing(deps: Deps, sender: MediaSender, rows: MediaRow[]): Promise<[string, string][]> {
  const { sendWaitMilliseconds = defaultSendWaitMilliseconds } = deps.media.limits
  const upload = async (row: MediaRow): Promise<[string, string]> => [
    row.id,
    await ensureAtWhatsApp(deps, sender, toSource(deps, row)),
  ]
  try {
    return await withTimeout(sendWaitMilliseconds, Promise.all(rows.map(upload)))
  } catch (error) {
    throw error instanceof StoreUnavailableError ? storeUnavailable(deps, error) : error
  }
}

async function withTimeout<Result>(milliseconds: number, result: Promise<Result>): Promise<Result> {
  const { promise: timeout, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => reject(unavailable(`it did not have the file after ${Math.ceil(milliseconds / 1000)} seconds`)),
    milliseconds,
  )
  try {
    return await Promise.race([result, timeout])
  } finally {
    clearTimeout(timer)
  }
}

function toSource({ media, log }: Pick<Deps, 'media' | 'log'>, row: MediaRow): MediaSource {
  return {
    sha256: row.sha256,
    type: row.type,
    size: row.size_bytes,
    open: async () => {
      const stream = await media.store.open(row.id)
      if (stream) return stream
      log.error({ accountId: row.account_id, mediaId: row.id }, 'a file is missing in the media store')
      throw new ServiceError(
        'VALIDATION_ERROR',
        `The file ${row.id} is no longer stored here, and WhatsApp does not have it for this number. Upload it again.`,
      )
    },
  }
}
