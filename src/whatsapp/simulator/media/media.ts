import { z } from 'zod'
import { fail, failWith } from '../errors.ts'
import type { Parameter, SendComponents } from '../messages/send-components.ts'
import { type Delivery, findSandboxMedia } from './sandbox-media.ts'
import type { SimulatedNumber, SimulatorState } from '../state.ts'
import type { TokenAccess } from '../onboarding/tokens.ts'
import { type SimulatedResponse, ok } from '../response.ts'
import type { RoutedRequest } from '../request.ts'

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
