import { TRPCClientError } from '@trpc/client'
import type { uploadMedia as contract } from '../../contracts/api/media.ts'
import type { ErrorCode, ErrorDetails, ErrorStatus } from '../../contracts/errors.ts'
import type { BlobOfPlatform, ClientOptions } from './options.ts'
import type { OutputOfCall } from './trpc.ts'

/** Repeated here, because importing the contract would import zod. */
const path: (typeof contract)['path'] = '/api/v1/media/upload'

type Media = OutputOfCall<typeof contract>

interface MediaDetails {
  /** Name that the recipient of a document sees; the name of a `File` if absent. */
  filename?: string | undefined
  /** The WhatsApp account that will send the file first; the default account if absent. */
  accountId?: string | undefined
}

/** A file. To import one by its `link`, prefer `client.media.import`. */
export type MediaToUpload = MediaDetails & ({ file: BlobOfPlatform } | { link: string })

/**
 * Uploads a file for the header of a template, and returns its `mediaId` and other facts. Errors are the same as those of
 * client calls, so `isWaybillError` recognizes them.
 */
export async function uploadMedia({ url, apiKey, fetch }: ClientOptions, media: MediaToUpload): Promise<Media> {
  // Both exist on every supported platform, even if the project has no types for them.
  const { fetch: platformFetch, FormData: Form } = globalThis as unknown as Platform
  const send = (fetch as Platform['fetch'] | undefined) ?? platformFetch
  const { status, headers, body } = await receive(async () =>
    send(new URL(path, url).href, {
      method: 'POST',
      ...('link' in media
        ? writeJson(media, apiKey)
        : { headers: { 'X-API-Key': apiKey }, body: writeForm(media, Form) }),
    }),
  )
  if (body.success) return body.data
  const { code, message, ...details } = body.error
  const retryAfter = headers.get('retry-after')
  throw TRPCClientError.from({
    error: {
      // tRPC's generic code for a bad request; `data` has the specific code.
      code: -32_600,
      message,
      data: {
        code,
        httpStatus: status as ErrorStatus,
        ...details,
        ...(retryAfter !== null && { retryAfterSeconds: Number(retryAfter) }),
      },
    },
  })
}

interface Platform {
  fetch(url: string, init: object): Promise<PlatformResponse>
  FormData: new () => Form
}

interface PlatformResponse {
  status: number
  headers: { get(name: string): string | null }
  json(): Promise<unknown>
}

interface Form {
  append(name: string, value: object | string, filename?: string): void
}

type ResponseBody =
  | { success: true; data: Media }
  | { success: false; error: { code: ErrorCode; message: string } & ErrorDetails }

/** Without a response from Waybill, the error has no `data`, as with client calls. */
async function receive(request: () => Promise<PlatformResponse>) {
  try {
    const response = await request()
    const body = (await response.json()) as ResponseBody | null
    if (body?.success !== true && body?.error?.code === undefined)
      throw new TypeError(`The response with status ${response.status} is not from Waybill.`)
    return { status: response.status, headers: response.headers, body }
  } catch (cause) {
    throw TRPCClientError.from(cause as Error)
  }
}

function writeJson(media: object, apiKey: string) {
  return { headers: { 'X-API-Key': apiKey, 'Content-Type': 'application/json' }, body: JSON.stringify(media) }
}

function writeForm(
  { file, filename, accountId }: Extract<MediaToUpload, { file: object }>,
  Form: Platform['FormData'],
) {
  const form = new Form()
  if (filename !== undefined) form.append('filename', filename)
  if (accountId !== undefined) form.append('accountId', accountId)
  // Only a File has a name, and it may be empty.
  const { name } = file as { name?: string }
  form.append('file', file, filename ?? (name || 'file'))
  return form
}
