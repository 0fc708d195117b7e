import { createHash } from 'node:crypto'
import { pipeline, Transform } from 'node:stream'
import type { MediaKind } from '../../../contracts/api/media.ts'
import { formatPath, invalidField, ServiceError } from '../../../contracts/errors.ts'
import type { Deps } from '../../deps.ts'
import { findWhatsAppMediaIds } from '../../media/whatsapp-media-ids-store.ts'
import {
  deleteRejectedWhatsAppMediaIds,
  ensureWhatsAppMediaId,
  type MediaSender,
  type MediaSource,
  unavailable,
} from '../../media/whatsapp-media-ids.ts'
import { StoreUnavailableError } from '../../media/object-store.ts'
import { findMedia, type MediaRow } from '../../media/store.ts'
import { kindOfType } from '../../media/types.ts'
import { storeUnavailable } from '../../media/upload.ts'
import type { FilledTemplate } from '../../templates/fill/values.ts'
import type { OutgoingHeader, SendOutcome } from '../../whatsapp/whatsapp.ts'

/** The prefix of our media IDs; WhatsApp's own IDs are digits. */
const prefix = 'med_'

/** Most messages name no uploaded file, and skip the steps below. */
export function namesMedia(filled: FilledTemplate): boolean {
  if (filled.header === undefined && filled.cards === undefined) return false
  return listNamedMedia(filled).length > 0
}

/** Checks the uploaded files that a message names. */
export function checkMedia(
  deps: Pick<Deps, 'db' | 'now'>,
  accountId: string,
  filled: FilledTemplate,
): Promise<Map<string, MediaRow>> {
  return findNamedMedia(deps, accountId, listNamedMedia(filled))
}

/** Replaces the IDs of uploaded files with WhatsApp's own. */
export async function resolveMedia(deps: Deps, sender: MediaSender, filled: FilledTemplate): Promise<FilledTemplate> {
  const files = await checkMedia(deps, sender.accountId, filled)
  const ids = await ensureNamedMedia(deps, sender, files)
  const replace = (header: OutgoingHeader) => replaceId(header, files, ids)
  const { header, cards } = filled
  return {
    ...filled,
    ...(header && { header: replace(header) }),
    ...(cards && { cards: cards.map((card) => (card.header ? { ...card, header: replace(card.header) } : card)) }),
  }
}

function listNamedMedia({ header, cards = [] }: FilledTemplate): NamedMedia[] {
  const headers = [
    { header, path: [] as (string | number)[] },
    ...cards.map((card, index) => ({ header: card.header, path: ['cards', index] })),
  ]
  return headers.flatMap(({ header: one, path }) => {
    if (!one || !('media' in one) || !('id' in one.media) || !one.media.id.startsWith(prefix)) return []
    return [{ mediaId: one.media.id, kind: one.kind, path: formatPath([...path, 'header', one.kind, 'mediaId']) }]
  })
}

/** A document without a filename in the request gets the filename of its upload. */
function replaceId(
  header: OutgoingHeader,
  files: ReadonlyMap<string, MediaRow>,
  ids: ReadonlyMap<string, string>,
): OutgoingHeader {
  if (!('media' in header) || !('id' in header.media)) return header
  const id = ids.get(header.media.id)
  if (id === undefined) return header
  if (header.kind !== 'document') return { ...header, media: { id } }
  return { ...header, media: { id }, filename: header.filename ?? files.get(header.media.id)?.filename ?? undefined }
}

/** WhatsApp's code for an unknown media ID, among other invalid parameters. */
const invalidParameter = 100

/**
 * WhatsApp can delete a file early. If it rejects a message because of a parameter, its media IDs are forgotten, so
 * that the next send uploads the files again. Most such rejections have another cause, so a recent ID is kept: a caller
 * who repeats a mistake would otherwise upload the file each time.
 */
export async function deleteRejectedMediaIds(
  deps: Pick<Deps, 'db' | 'now'>,
  accountId: string,
  filled: FilledTemplate,
  { error }: Extract<SendOutcome, { kind: 'refused' }>,
): Promise<void> {
  if (error.code !== invalidParameter) return
  const headers = [filled.header, ...(filled.cards ?? []).map((card) => card.header)]
  const waMediaIds = headers.flatMap((header) =>
    header && 'media' in header && 'id' in header.media ? [header.media.id] : [],
  )
  if (waMediaIds.length > 0) await deleteRejectedWhatsAppMediaIds(deps, accountId, waMediaIds)
}

/** A field of a send that names an uploaded file. */
interface NamedMedia {
  mediaId: string
  /** Such as `cards[1].header.image.mediaId`. */
  path: string
  kind: MediaKind
}

const defaultSendWaitMilliseconds = 20_000

/** Finds the files that a send names. Throws a VALIDATION_ERROR if one is unknown or of another kind. */
async function findNamedMedia(
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
    if (actual !== kind) throw invalidField(path, `must be a file of kind ${kind}; this one is of type ${row.type}.`)
  }
  return byId
}

/** Returns WhatsApp's IDs of the files, by our IDs. Uploads the files that WhatsApp does not have for this number. */
async function ensureNamedMedia(
  deps: Deps,
  sender: MediaSender,
  files: ReadonlyMap<string, MediaRow>,
): Promise<Map<string, string>> {
  const rows = [...files.values()]
  const known = await findWhatsAppMediaIds(deps.db, {
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
  const upload = async (row: MediaRow): Promise<[string, string]> => {
    try {
      return [row.id, await ensureWhatsAppMediaId(deps, sender, toSource(deps, row))]
    } catch (error) {
      // Logged here, because the send may have ended.
      throw error instanceof StoreUnavailableError ? storeUnavailable(deps, error) : error
    }
  }
  return withTimeout(sendWaitMilliseconds, Promise.all(rows.map(upload)))
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
    size: row.size,
    open: async () => {
      const stream = await media.store.open(row.id)
      const file = { accountId: row.accountId, mediaId: row.id }
      if (stream) {
        const verifier = createVerifier(row, () => {
          log.error(file, 'a file in the media store is damaged')
          return uploadAgain(`The file ${row.id} is damaged in the media store`)
        })
        // Also closes the file if it is not sent. Whoever reads the verifier receives the errors of both.
        return pipeline(stream, verifier, () => {})
      }
      log.error(file, 'a file is missing in the media store')
      throw uploadAgain(`The file ${row.id} is no longer stored here`)
    },
  }
}

function uploadAgain(problem: string): ServiceError {
  return new ServiceError(
    'VALIDATION_ERROR',
    `${problem}, and WhatsApp does not have it for this number. Upload it again.`,
  )
}

/**
 * Passes a file on, and fails before its end if the store returns other bytes than it was given. WhatsApp ignores such an
 * upload.
 */
function createVerifier(
  { sha256, size: expectedSize }: Pick<MediaRow, 'sha256' | 'size'>,
  damaged: () => ServiceError,
): Transform {
  const hash = createHash('sha256')
  let size = 0
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      size += chunk.length
      hash.update(chunk)
      done(size > expectedSize ? damaged() : null, chunk)
    },
    flush: (done) => done(hash.digest('hex') === sha256 ? null : damaged()),
  })
}
