import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { MediaOutcome, MediaUpload, WhatsApp } from '../whatsapp.ts'
import type { Exchange } from './exchange.ts'
import type { GraphCall } from './onboarding.ts'
import { readRefusal } from './refusal.ts'
import { DeleteResponse, parseJson, UploadResponse } from './wire.ts'

interface FileBody {
  contentType: string
  length: number
  body: Readable
}

/** Sends a file. `path` has no leading slash and no version. */
export type FileCall = (path: string, accessToken: string, file: FileBody) => Promise<Exchange>

export function createMedia(call: GraphCall, upload: FileCall): Pick<WhatsApp, 'uploadMedia' | 'deleteMedia'> {
  return {
    uploadMedia: async ({ phoneNumberId, accessToken }, file) => {
      const response = await upload(`${encodeURIComponent(phoneNumberId)}/media`, accessToken, toUploadBody(file))
      // If the request was not sent, the file is still open.
      file.body.destroy()
      return readUpload(response, accessToken)
    },
    deleteMedia: async ({ phoneNumberId, accessToken }, waMediaId) => {
      const path = `${encodeURIComponent(waMediaId)}?phone_number_id=${encodeURIComponent(phoneNumberId)}`
      return readDeletion(await call('DELETE', path, accessToken))
    },
  }
}

/** Returns the body of `POST /<phone number id>/media` (reference 2, section 4) as a stream. */
function toUploadBody({ type, size, filename, body }: MediaUpload): FileBody {
  const boundary = `waybill-${randomUUID()}`
  const field = (name: string, value: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const start = Buffer.from(
    `${field('messaging_product', 'whatsapp')}${field('type', type)}--${boundary}\r\n` +
      `Content-Disposition: form-data; name="file"; filename="${filename}"\r\nContent-Type: ${type}\r\n\r\n`,
  )
  const end = Buffer.from(`\r\n--${boundary}--\r\n`)
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    length: start.length + size + end.length,
    body: Readable.from(concat(start, body, end), { objectMode: false }),
  }
}

async function* concat(start: Buffer, body: Readable, end: Buffer): AsyncGenerator<Buffer, void, void> {
  yield start
  yield* body as AsyncIterable<Buffer>
  yield end
}

function readUpload(exchange: Exchange, accessToken: string): MediaOutcome {
  if (exchange.kind !== 'answered') return { kind: 'unavailable', reason: exchange.reason }
  const { status, body } = exchange
  if (status < 300) {
    const parsed = UploadResponse.safeParse(body === undefined ? undefined : parseJson(body))
    return parsed.success
      ? { kind: 'uploaded', waMediaId: parsed.data.id }
      : { kind: 'unavailable', reason: 'the response contains no media ID' }
  }
  const refusal = readRefusal(exchange, [accessToken])
  if (!refusal || refusal.errorClass.kind === 'unknown')
    return { kind: 'unavailable', reason: `an unreadable response with HTTP ${status}` }
  const { errorCode, retryAfterSeconds, accountUnusable = false } = refusal.errorClass
  return {
    kind: 'refused',
    errorCode,
    error: refusal.error,
    accountUnusable,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  }
}

/** The subcode of an object that does not exist because it has expired or was deleted. */
const unknownObject = 33

function readDeletion(exchange: Exchange): boolean {
  if (exchange.kind !== 'answered' || exchange.body === undefined) return false
  const response = DeleteResponse.safeParse(parseJson(exchange.body)).data
  return response?.success === true || response?.error?.error_subcode === unknownObject
}
