import { t } from '@lingui/core/macro'
import { sayFact, toSentence } from '../language/facts.ts'
import type { DashboardErrorData } from '../../../contracts/errors.ts'
import { samplesPath } from '../../../contracts/dashboard/template-changes.ts'
import type { SampleFormat } from '../../../contracts/templates/samples.ts'
import { UploadError } from './failure.ts'

interface SampleUpload {
  accountId: string
  whatsAppAccountId: string | undefined
  format: SampleFormat
  file: File
  signal: AbortSignal
  /** Called with the part of the file that has been sent, from 0 to 1. */
  onProgress: (part: number) => void
}

/** Uploads a sample and returns its handle. Uses XMLHttpRequest, because fetch does not report upload progress. */
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
    const response = readResponse(request.responseText)
    if (typeof response === 'string') resolve(response)
    else reject(response)
  })
  request.addEventListener('error', () => reject(interrupted()))
  request.addEventListener('abort', () => reject(signal.reason))
  signal.addEventListener('abort', () => request.abort(), { once: true })
  request.open('POST', `${samplesPath}?${query}`)
  request.send(form)
  return promise
}

/** The response may come from another server, such as a proxy with its own size limit. */
function readResponse(body: string): string | UploadError {
  try {
    const response = JSON.parse(body) as { data?: { handle: string }; error?: SampleFailure }
    if (response.data) return response.data.handle
    if (response.error) return new UploadError(sayFailure(response.error), response.error.code)
  } catch {
    return interrupted()
  }
  return interrupted()
}

function interrupted(): UploadError {
  return new UploadError(t`The upload was interrupted. Check your connection and try again.`)
}

type SampleFailure = Pick<DashboardErrorData, 'code' | 'fact' | 'facts'> & { message: string }

function sayFailure({ fact, facts, message }: SampleFailure): string {
  const ofFile = facts?.['file']
  return ofFile ? toSentence(sayFact(ofFile)) : sayFact(fact, message)
}
