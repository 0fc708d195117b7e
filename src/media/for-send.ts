import { invalidField, ServiceError } from '../../contracts/errors.ts'
import type { MediaKind } from '../../contracts/api/media.ts'
import type { Deps } from '../deps.ts'
import { ensureAtWhatsApp, type MediaSender, type MediaSource } from './at-whatsapp.ts'
import { findAtWhatsApp } from './at-whatsapp-store.ts'
import { findMedia, type MediaRow } from './store.ts'
import { StoreUnavailableError } from './store/object-store.ts'
import { kindOfType } from './types.ts'
import { storeUnavailable } from './upload.ts'

/** A field of a send that names an uploaded file. */
export interface NamedMedia {
  mediaId: string
  /** Such as `cards[1].header.image.mediaId`. */
  path: string
  kind: MediaKind
}

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

/** Returns WhatsApp's IDs of the files, by our own, and uploads those that WhatsApp does not have for this number. */
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
  const ids = rows.map(async (row): Promise<[string, string]> => {
    const found = known.find(({ sha256, type }) => sha256 === row.sha256 && type === row.type)
    return [row.id, found?.waMediaId ?? (await ensureAtWhatsApp(deps, sender, toSource(deps, row)))]
  })
  try {
    return new Map(await Promise.all(ids))
  } catch (error) {
    throw error instanceof StoreUnavailableError ? storeUnavailable(deps, error) : error
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
