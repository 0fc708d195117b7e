import { t } from '@lingui/core/macro'
import { sayFact, toSentence } from '../language/facts.ts'
import type { DashboardErrorData } from '../../../contracts/errors.ts'
import { UploadError } from './failure.ts'

interface FileUpload {
  /** The path of the upload, and its parameters. */
  path: string
  query: Record<string, string>
  file: File
  signal?: AbortSignal
  /** Called with the part of the file that has been sent, from 0 to 1. */
  onProgress?: (part: number) => void
}

/** Uploads a file and returns the answer. Uses XMLHttpRequest, because fetch does not report upload progress. */
export function uploadFile<Answer>({ path, query, file, signal, onProgress }: FileUpload): Promise<Answer> {
  const form = new FormData()
  form.set('file', file)
  const request = new XMLHttpRequest()
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  request.upload.addEventListener('progress', ({ loaded, total }) => onProgress?.(total > 0 ? loaded / total : 0))
  request.addEventListener('load', () => {
    const response = readResponse<Answer>(request.responseText)
    if (response instanceof UploadError) reject(response)
    else resolve(response)
  })
  request.addEventListener('error', () => reject(interrupted()))
  request.addEventListener('abort', () => reject(signal?.reason))
  signal?.addEventListener('abort', () => request.abort(), { once: true })
  request.open('POST', `${path}?${new URLSearchParams(query)}`)
  request.send(form)
  return promise
}

/** The response may come from another server, such as a proxy with its own size limit. */
function readResponse<Answer>(body: string): Answer | UploadError {
  try {
    const response = JSON.parse(body) as { data?: Answer; error?: UploadFailure }
    if (response.data !== undefined) return response.data
    if (response.error) return new UploadError(sayFailure(response.error), response.error.code)
  } catch {
    return interrupted()
  }
  return interrupted()
}

function interrupted(): UploadError {
  return new UploadError(t`The upload was interrupted. Check your connection and try again.`)
}

type UploadFailure = Pick<DashboardErrorData, 'code' | 'fact' | 'facts'> & { message: string }

function sayFailure({ fact, facts, message }: UploadFailure): string {
  const ofFile = facts?.['file']
  return ofFile ? toSentence(sayFact(ofFile)) : sayFact(fact, message)
}
