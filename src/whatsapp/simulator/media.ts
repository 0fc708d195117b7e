import { z } from 'zod'
import { fail, failPlainParameter, failWith, unknownPath } from './errors.ts'
import { ok, type ReceivedRequest, type RoutedRequest, type SimulatedResponse } from './exchange.ts'
import type { Plan } from './messages/plans.ts'
import type { Parameter, SendComponents } from './messages/send-components.ts'
import type { TokenAccess } from './onboarding/tokens.ts'
import type { SimulatedNumber, SimulatorState } from './state.ts'

const megabyte = 1024 * 1024

/** The media types that may be uploaded, and their largest sizes (reference 2, section 4). */
const maxBytes: Readonly<Record<string, number>> = {
  'audio/aac': 16 * megabyte,
  'audio/mp4': 16 * megabyte,
  'audio/mpeg': 16 * megabyte,
  'audio/amr': 16 * megabyte,
  'audio/ogg': 16 * megabyte,
  'audio/opus': 16 * megabyte,
  'application/vnd.ms-powerpoint': 100 * megabyte,
  'application/msword': 100 * megabyte,
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 100 * megabyte,
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 100 * megabyte,
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 100 * megabyte,
  'application/pdf': 100 * megabyte,
  'text/plain': 100 * megabyte,
  'application/vnd.ms-excel': 100 * megabyte,
  'image/jpeg': 5 * megabyte,
  'image/png': 5 * megabyte,
  'image/webp': megabyte / 2,
  'video/mp4': 16 * megabyte,
  'video/3gpp': 16 * megabyte,
}

const Upload = z.object({
  messaging_product: z.literal('whatsapp'),
  file: z.object({ type: z.string(), size: z.int(), sha256: z.string() }),
})

/** `POST /<phone number id>/media`. */
export function uploadMedia(
  state: SimulatorState,
  { phoneNumberId }: SimulatedNumber,
  body: unknown,
): SimulatedResponse {
  const upload = Upload.safeParse(body)
  if (!upload.success) {
    const [name] = upload.error.issues[0]?.path ?? []
    return failWith(100, `The parameter ${String(name ?? 'messaging_product')} is required.`)
  }
  const { type, size, sha256 } = upload.data.file
  const limit = maxBytes[type]
  if (limit === undefined)
    return refuse(
      `Param file must be a file with one of the following types: ${Object.keys(maxBytes).join(', ')}. Received file of type '${type}'.`,
    )
  if (size > limit) return refuse(`Param file must be a file smaller than ${limit} bytes. Received ${size} bytes.`)
  const id = state.nextMediaId()
  state.media.set(id, { id, phoneNumberId, type, size, sha256 })
  return ok({ id })
}

function refuse(title: string): SimulatedResponse {
  return fail({ status: 400, code: 100, title })
}

/** `GET /<media id>` and `DELETE /<media id>`; undefined if the token's numbers have no such file. */
export function handleMedia(
  state: SimulatorState,
  { numbers }: TokenAccess,
  { method, id, query }: RoutedRequest,
  origin: string,
): SimulatedResponse | undefined {
  const media = state.media.get(id)
  const number = query.get('phone_number_id') ?? media?.phoneNumberId
  if (!media || media.phoneNumberId !== number) return undefined
  if (!numbers.some(({ phoneNumberId }) => phoneNumberId === number)) return undefined
  if (method === 'DELETE') {
    state.media.delete(id)
    return ok({ success: true })
  }
  if (method !== 'GET') return undefined
  return ok({
    messaging_product: 'whatsapp',
    // Nothing can be downloaded here, because the simulator does not keep the bytes.
    url: `${origin}/simulated-media/${id}`,
    mime_type: media.type,
    sha256: media.sha256,
    file_size: String(media.size),
    id,
  })
}

/** Checks the files in the headers of a message. Returns an error, statuses that report one later, or undefined. */
export function checkMedia(
  state: SimulatorState,
  { phoneNumberId }: SimulatedNumber,
  components: SendComponents,
): Delivery | SimulatedResponse | undefined {
  let delivery: Delivery | undefined
  for (const { kind, file } of listFiles(components)) {
    const sandbox = findSandboxMedia(file)
    if (sandbox?.expired === true) return unknownMedia(kind)
    delivery ??= sandbox?.delivery
    if (sandbox || file.id === undefined) continue
    if (state.media.get(file.id)?.phoneNumberId !== phoneNumberId) return unknownMedia(kind)
  }
  return delivery
}

/** Meta's wording for an unknown media ID, according to public bug reports. */
function unknownMedia(kind: string): SimulatedResponse {
  return failWith(100, `Param ${kind}['id'] is not a valid whatsapp business account media attachment ID`)
}

interface SentFile {
  kind: string
  file: { id?: string | undefined; link?: string | undefined }
}

function listFiles(components: SendComponents): SentFile[] {
  return components.flatMap((component): SentFile[] => {
    if (component.type === 'carousel') return component.cards.flatMap((card) => listFiles(card.components))
    return component.type === 'header' ? component.parameters.flatMap(filesOf) : []
  })
}

function filesOf({ image, video, document }: Parameter): SentFile[] {
  return Object.entries({ image, video, document }).flatMap(([kind, file]) => (file ? [{ kind, file }] : []))
}

const acceptedTypes = new Set(['application/pdf', 'image/jpeg', 'image/jpg', 'image/png', 'video/mp4'])
/** Older samples are deleted, so that a sandbox that runs for weeks does not grow. */
const maxSamples = 50

/** `POST /<app ID>/uploads`: reference 2, section 3.4. */
export function startUpload(state: SimulatorState, { query }: ReceivedRequest): SimulatedResponse {
  const length = Number(query.get('file_length'))
  const type = query.get('file_type') ?? ''
  if (!Number.isInteger(length) || length < 1) return failPlainParameter('file_length')
  if (!acceptedTypes.has(type)) return failPlainParameter('file_type')
  const id = `upload:${Buffer.from(state.randomBytes(12)).toString('base64url')}`
  state.uploads.set(id, { length, type })
  return ok({ id })
}

/** `POST /upload:<session>`: the bytes of the file. */
export function receiveUpload(state: SimulatorState, request: ReceivedRequest, origin: string): SimulatedResponse {
  const id = request.path.slice(1)
  const upload = state.uploads.get(id)
  if (!upload) return unknownPath(request.path)
  if (request.method === 'GET') return ok({ id, file_offset: 0 })
  if (request.bytes.length !== upload.length) return failPlainParameter('file_offset')
  const key = Buffer.from(state.randomBytes(9)).toString('base64url')
  const handle = `4::${key}`
  const [oldest] = state.samples.keys()
  if (state.samples.size >= maxSamples && oldest !== undefined) state.samples.delete(oldest)
  state.samples.set(handle, { type: upload.type, bytes: request.bytes, url: `${origin}/samples/${key}` })
  state.uploads.delete(id)
  return ok({ h: handle })
}

/** The URL of a sample in a listing, which needs no token. */
export function readSample(state: SimulatorState, path: string): SimulatedResponse {
  const sample = state.samples.get(`4::${path.replace('/samples/', '')}`)
  return sample ? { kind: 'bytes', status: 200, contentType: sample.type, bytes: sample.bytes } : unknownPath(path)
}

/** The statuses of a message whose file WhatsApp cannot use. */
interface Delivery {
  plan: Plan
}

/** A file whose ID or link determines the outcome of a message. */
interface SandboxMedia {
  /** A media ID or a link. */
  file: string
  /** The outcome in one sentence, for the guide. */
  does: string
  delivery?: Delivery
  /** True if the send is refused, as for an ID that does not exist. */
  expired?: true
}

/** Nobody can own a host below `.example` (RFC 2606). */
export const sandboxMedia: readonly SandboxMedia[] = [
  {
    file: 'https://fails.example/403',
    does: 'Sent, then failed (131053): the server of the link rejects the download',
    delivery: { plan: 'mediaForbidden' },
  },
  {
    file: 'https://fails.example/404',
    does: 'Sent, then failed (131053): the server of the link has no such file',
    delivery: { plan: 'mediaMissing' },
  },
  {
    file: 'https://fails.example/type',
    does: 'Sent, then failed (131053): the file does not match its declared type',
    delivery: { plan: 'mediaWrongType' },
  },
  {
    file: '9000000000131053',
    does: 'Sent, then failed (131053): the uploaded file does not match its declared type',
    delivery: { plan: 'mediaWrongType' },
  },
  { file: '9000000000000033', does: 'Rejected (100): the uploaded file has expired', expired: true },
  { file: '9000000000000001', does: 'Accepted: an uploaded file that each number has, of any type' },
]

const byFile = new Map(sandboxMedia.map((media) => [media.file, media]))

function findSandboxMedia({ id, link }: { id?: string | undefined; link?: string | undefined }) {
  return byFile.get(id ?? link ?? '')
}
