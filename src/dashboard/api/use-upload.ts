import { t } from '@lingui/core/macro'
import { useEffect, useRef, useState } from 'react'
import { sayFact, toSentence } from '../language/facts.ts'
import type { DashboardErrorData } from '../../../contracts/errors.ts'
import { readFailure, UploadError } from './failure.ts'
import { useChange } from './use-change.ts'

interface Transfer {
  signal: AbortSignal
  /** Called with the part of the file that has been sent, from 0 to 1. */
  onProgress: (part: number) => void
}

interface FileUpload extends Transfer {
  /** The path of the upload, and its parameters. */
  path: string
  query: Record<string, string>
  file: File
}

interface Upload<Result> {
  send: (file: File, transfer: Transfer) => Promise<Result>
  /** Why a chosen file cannot be sent. The server also checks its content. */
  findProblem: (file: File) => string | undefined
  onDone: (result: Result, file: File) => void
}

/** One upload at a time: choosing another file takes its place. `input` is for a `FileButton`. */
export function useUpload<Result>({ send, findProblem, onDone }: Upload<Result>) {
  const [sending, setSending] = useState<{ file: File; part: number }>()
  const [problem, setProblem] = useState<string>()
  const running = useRef<AbortController>(null)
  const resetRef = useRef<() => void>(null)
  // The form can be edited during an upload, so the result must use the latest callback.
  const done = useRef(onDone)
  useEffect(() => {
    done.current = onDone
  })
  // An upload ends with its form.
  useEffect(() => () => running.current?.abort(), [])
  const upload = useChange({
    change: async ({ file, signal }: { file: File; signal: AbortSignal }) => {
      const result = await send(file, { signal, onProgress: (part) => signal.aborted || setSending({ file, part }) })
      signal.throwIfAborted()
      return result
    },
    invalidates: [],
    onDone: (result, { file }) => {
      setSending(undefined)
      done.current(result, file)
    },
    onFailure: (error) => {
      if (error instanceof DOMException && error.name === 'AbortError') return
      setSending(undefined)
      setProblem(readFailure(error).message)
    },
  })
  const cancel = () => {
    running.current?.abort()
    setSending(undefined)
    setProblem(undefined)
  }
  const choose = (file: File | null) => {
    // Otherwise, the browser fires no change event if the same file is chosen again.
    resetRef.current?.()
    cancel()
    if (file === null) return
    const reason = findProblem(file)
    if (reason !== undefined) return setProblem(reason)
    setSending({ file, part: 0 })
    running.current = new AbortController()
    upload.mutate({ file, signal: running.current.signal })
  }
  return { input: { resetRef, onChange: choose }, cancel, sending, problem }
}

/** Uploads a file and returns the answer. Uses XMLHttpRequest, because fetch does not report upload progress. */
export function uploadFile<Answer>({ path, query, file, signal, onProgress }: FileUpload): Promise<Answer> {
  const form = new FormData()
  form.set('file', file)
  const request = new XMLHttpRequest()
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0))
  request.addEventListener('load', () => {
    const response = readResponse<Answer>(request.responseText)
    if (response instanceof UploadError) reject(response)
    else resolve(response)
  })
  request.addEventListener('error', () => reject(interrupted()))
  request.addEventListener('abort', () => reject(signal.reason))
  signal.addEventListener('abort', () => request.abort(), { once: true })
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
