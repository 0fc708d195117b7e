import { formatPath } from '../../../contracts/errors.ts'
import type { Deps } from '../../deps.ts'
import { forgetRefusedIds, type MediaSender } from '../../media/at-whatsapp.ts'
import { ensureNamedMedia, findNamedMedia, type NamedMedia } from '../../media/for-send.ts'
import type { MediaRow } from '../../media/store.ts'
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
export async function forgetRefusedMedia(
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
  if (waMediaIds.length > 0) await forgetRefusedIds(deps, accountId, waMediaIds)
}
