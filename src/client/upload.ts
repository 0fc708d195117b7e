import { TRPCClientError } from '@trpc/client'
import type { Media, uploadMedia as contract } from '../../contracts/api/media.ts'
import type { ErrorCode, ErrorStatus } from '../../contracts/errors.ts'
import type { BlobOfPlatform, ClientOptions } from './options.ts'

/** Written out, because the contract itself would bring zod along. */
const path: (typeof contract)['path'] = '/api/v1/media/upload'

interface MediaDetails {
  /** Name that the recipient of a document sees. */
  filename?: string | undefined
  /** The WhatsApp account that will send the file first; the default account if absent. */
  accountId?: string | undefined
}

/** A file, or the public address of one. */
export type MediaToUpload = MediaDetails & ({ file: BlobOfPlatform } | { link: string })

/**
 * Uploads a file for the header of a template, and returns its `mediaId` among others. It throws what the calls of the
 * client throw, so that `isWaybillError` knows it.
 */
export async function uploadMedia({ url, apiKey, fetch }: ClientOptions, media: MediaToUpload): Promise<Media> {
  // Both exist on every platform that the client runs on, whatever its types say.
  const { fetch: ownFetch, FormData: Form } = globalThis as unknown as Platform
  const send = (fetch as Platform['fetch'] | undefined) ?? ownFetch
  const response = await send(new URL(path, url).href, {
    method: 'POST',
    ...('link' in media
      ? writeJson(media, apiKey)
      : { headers: { 'X-API-Key': apiKey }, body: writeForm(media, Form) }),
  })
  const answer = (await response.json()) as Answer
  if (answer.success) return answer.data
  const { code, message } = answer.error
  const retryAfter = response.headers.get('retry-after')
  throw TRPCClientError.from({
    error: {
      // tRPC's number for a bad request; `data` has the code that counts.
      code: -32_600,
      message,
      data: {
        code,
        httpStatus: response.status as ErrorStatus,
        ...(retryAfter !== null && { retryAfterSeconds: Number(retryAfter) }),
      },
    },
  })
}

interface Platform {
  fetch(
    url: string,
    init: object,
  ): Promise<{ status: number; headers: { get(name: string): string | null }; json(): Promise<unknown> }>
  FormData: new () => Form
}

interface Form {
  append(name: string, value: object | string, filename?: string): void
}

type Answer = { success: true; data: Media } | { success: false; error: { code: ErrorCode; message: string } }

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
  form.append('file', file, filename ?? 'file')
  return form
}
