import { t } from '@lingui/core/macro'
import type { ErrorCode } from '../../../contracts/errors.ts'
import { samplesPath } from '../../../contracts/dashboard/template-changes.ts'
import type { SampleFormat } from '../../../contracts/templates/samples.ts'
import { UploadError } from './upload-error.ts'

interface SampleUpload {
  accountId: string
  whatsAppAccountId: string | undefined
  format: SampleFormat
  file: File
  signal: AbortSignal
  /** Called with the part of the file that has been sent, from 0 to 1. */
  onProgress: (part: number) => void
}

/** Uploads a sample and returns its handle. Uses XMLHttpRequest, because fetch reports no progress of uploads. */
export function uploadSample({
  accountId,
  whatsAppAccountId,
  format,
  file,
  signal,
  onProgress,
}: SampleUpload): Promise<string> {
  const query = new URLSearchParams({
    accountId,
    format,
    ...(whatsAppAccountId !== undefined && { whatsAppAccountId }),
  })
  const form = new FormData()
  form.set('file', file)
  const request = new XMLHttpRequest()
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0))
  request.addEventListener('load', () => {
    const answer = readAnswer(request.responseText)
    if (typeof answer === 'string') resolve(answer)
    else reject(answer)
  })
  request.addEventListener('error', () => reject(interrupted()))
  request.addEventListener('abort', () => reject(signal.reason))
  signal.addEventListener('abort', () => request.abort(), { once: true })
  request.open('POST', `${samplesPath}?${query}`)
  request.send(form)
  return promise
}

/** Another server, such as a proxy with a limit of its own, may have answered. */
function readAnswer(body: string): string | UploadError {
  try {
    const answer = JSON.parse(body) as Partial<{
      data: { handle: string }
      error: { code: ErrorCode; message: string }
    }>
    if (answer.data) return answer.data.handle
    if (answer.error) return new UploadError(answer.error.message.replace(/^file: must/, 'Must'), answer.error.code)
  } catch {
    return interrupted()
  }
  return interrupted()
}

function interrupted(): UploadError {
  return new UploadError(t`The upload was interrupted. Check your connection and try again.`)
}
