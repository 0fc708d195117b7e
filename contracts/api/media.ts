import { z } from 'zod'
import {
  MediaId,
  namedObject,
  namedStrictObject,
  publicAddress,
  responseField,
  singleLine,
  textUpTo,
  Timestamp,
  WhatsAppAccountId,
  withExample,
} from '../fields.ts'
import { procedure } from '../procedure.ts'

/** The kinds of files that a template header can show. */
export const mediaKinds = ['image', 'video', 'document'] as const
export type MediaKind = (typeof mediaKinds)[number]

/** WhatsApp's largest file of each kind, in bytes (reference 2, section 4). */
export const maxMediaBytes = {
  image: 5 * 1024 * 1024,
  video: 16 * 1024 * 1024,
  document: 100 * 1024 * 1024,
} as const satisfies Record<MediaKind, number>

const FileName = withExample(
  singleLine(240),
  'Name that the recipient of a document sees. Its extension determines the icon.',
  'invoice.pdf',
)

export const ImportMediaRequest = namedStrictObject('ImportMediaRequest', 'A file to store, by its address.', {
  link: withExample(
    textUpTo(4096).regex(publicAddress, 'must be a public https address, such as https://…/file.pdf'),
    'Public https address of the file. Waybill downloads it once, and follows no redirect.',
    'https://example.com/invoice.pdf',
  ),
  filename: FileName.optional(),
  accountId: WhatsAppAccountId.optional().describe(
    'ID of the WhatsApp account that will send the file first. When absent, the default account is used.',
  ),
})
export type ImportMediaRequest = z.infer<typeof ImportMediaRequest>

/** The fields that accompany an uploaded file. */
export const MediaFields = ImportMediaRequest.omit({ link: true })
export type MediaFields = z.infer<typeof MediaFields>

export const Media = namedObject('Media', 'A stored file.', {
  mediaId: responseField(MediaId),
  kind: withExample(z.enum(mediaKinds), 'The kind of header that can show the file.', 'document'),
  type: withExample(z.string(), 'Media type of the file, determined from its content.', 'application/pdf'),
  size: withExample(z.int(), 'Size in bytes.', 48_213),
  sha256: withExample(
    z.string(),
    'SHA-256 hash of the file, in hexadecimal digits.',
    '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  ),
  filename: responseField(FileName).optional(),
  createdAt: Timestamp.describe('When the file was uploaded.'),
  expiresAt: Timestamp.describe('When the file is deleted, unless it is uploaded again before.'),
})
export type Media = z.infer<typeof Media>

export const DeletedMedia = namedObject('DeletedMedia', 'The file that was deleted.', {
  mediaId: responseField(MediaId),
})

const exampleMedia = {
  mediaId: 'med_01kah3b9mzf5vt2d0wq8r6x4ye',
  kind: 'document',
  type: 'application/pdf',
  size: 48_213,
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  filename: 'invoice.pdf',
  createdAt: '2026-11-20T09:30:00.000Z',
  expiresAt: '2027-02-18T09:30:00.000Z',
} as const

const mediaErrors = {
  PAYLOAD_TOO_LARGE: 'The file is larger than 5 MB, which is the most that WhatsApp takes of an image.',
  UNSUPPORTED_MEDIA_TYPE:
    'The file is of no type that a template can show. Upload a JPEG or PNG image, an MP4 or 3GPP video, a PDF, an Office document or plain text.',
  RATE_LIMIT_EXCEEDED: 'This account has 8 uploads in progress, the most at a time. Try again in 5 seconds.',
  SERVICE_UNAVAILABLE: 'The media store is unavailable. Nothing was stored. Try again in a moment.',
}

/**
 * Served over REST only, because tRPC cannot carry files. It also accepts the JSON body of `media.import`, as it did before
 * that existed. The document omits this: of two content types, most generators only support one.
 */
export const uploadMedia = procedure({
  kind: 'mutation',
  budget: 'uploads',
  path: '/api/v1/media/upload',
  tag: 'Media',
  summary: 'Upload a file for the header of a template',
  description:
    'Takes an image, a video or a document as `multipart/form-data` in the part `file`. Its type and size are checked by its content. The response has the `mediaId` for `header.image.mediaId`, `header.video.mediaId` and `header.document.mediaId` of a send. The same file with the same filename gets the same ID and renews its expiry.',
  input: MediaFields,
  fileField: 'file',
  output: Media,
  errors: ['NO_ACTIVE_ACCOUNT', 'MEDIA_QUOTA_EXCEEDED', 'MEDIA_REJECTED', 'WHATSAPP_UNAVAILABLE'],
  example: {
    input: { filename: 'invoice.pdf' },
    output: exampleMedia,
    errors: { VALIDATION_ERROR: 'file: is missing: send the file in a part with this name.', ...mediaErrors },
  },
})

export const importMedia = procedure({
  kind: 'mutation',
  budget: 'uploads',
  path: '/api/v1/media/import',
  tag: 'Media',
  summary: 'Download a file for the header of a template',
  description:
    'Downloads an image, a video or a document from a public https address and stores it like an uploaded file. No redirect is followed.',
  input: ImportMediaRequest,
  output: Media,
  errors: [
    'NO_ACTIVE_ACCOUNT',
    'MEDIA_DOWNLOAD_FAILED',
    'MEDIA_QUOTA_EXCEEDED',
    'MEDIA_REJECTED',
    'WHATSAPP_UNAVAILABLE',
  ],
  example: {
    input: { link: 'https://example.com/invoice.pdf', filename: 'invoice.pdf' },
    output: exampleMedia,
    errors: { VALIDATION_ERROR: 'link: must be a public https address, such as https://…/file.pdf.', ...mediaErrors },
  },
})

const idErrors = { VALIDATION_ERROR: 'mediaId: must have at most 64 characters.' }

export const getMedia = procedure({
  kind: 'query',
  budget: 'reads',
  path: '/api/v1/media/{mediaId}',
  tag: 'Media',
  summary: 'Get one uploaded file',
  description:
    'Returns what is known of an uploaded file: its type, size, hash and expiry. The file itself is not returned.',
  input: z.strictObject({ mediaId: MediaId.meta({ pattern: '^med_[0-9a-z]{26}$' }) }),
  output: Media,
  errors: ['MEDIA_NOT_FOUND'],
  example: { input: { mediaId: exampleMedia.mediaId }, output: exampleMedia, errors: idErrors },
})

export const deleteMedia = procedure({
  kind: 'mutation',
  budget: 'changes',
  path: '/api/v1/media/delete',
  tag: 'Media',
  summary: 'Delete an uploaded file',
  description:
    'Deletes an uploaded file here and at WhatsApp. Messages that were sent with it keep it; a later send with its ID fails.',
  input: namedStrictObject('DeleteMediaRequest', 'The file to delete.', { mediaId: MediaId }),
  output: DeletedMedia,
  errors: ['MEDIA_NOT_FOUND'],
  example: {
    input: { mediaId: exampleMedia.mediaId },
    output: { mediaId: exampleMedia.mediaId },
    errors: idErrors,
  },
})
