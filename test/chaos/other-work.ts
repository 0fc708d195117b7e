import { setTimeout as delay } from 'node:timers/promises'
import { type Dispatcher, FormData, request } from 'undici'
import type { LedgerWriter, OtherWork } from './ledger.ts'
import type { ChaosNode } from './node.ts'
import type { Random } from './random.ts'
import { pdf } from '../support/media-files.ts'

const attemptMilliseconds = 20_000
const importedAtOnce = 200

export interface OtherWorkOptions {
  apiKey: string
  ledger: LedgerWriter
  random: Random
  dispatcher: Dispatcher
  pickNode: () => Promise<ChaosNode>
  /** No new work starts then; the current one is repeated until it is acknowledged. */
  isSettling: () => boolean
  isStopped: () => boolean
  onAcknowledged: (ids: readonly string[]) => void
}

interface Request {
  path: string
  body: string | FormData
  /** Reads what must exist from then on. */
  readIds: (data: Record<string, unknown>) => string[]
}

/** Imports, uploads and template changes, each of which is repeated until it is acknowledged, like a job of a caller. */
export async function doOtherWork(options: OtherWorkOptions): Promise<void> {
  const { random, isSettling } = options
  for (let number = 0; !isSettling(); number++) {
    const work = random.weighted({ import: 2, upload: 2, template: 1 })
    await repeatUntilAcknowledged(options, work, prepare(work, number))
    await delay(random.between(0, 500))
  }
}

function prepare(work: OtherWork, number: number): Request {
  switch (work) {
    case 'import': {
      const recipients = Array.from(
        { length: importedAtOnce },
        (_, index) => `3479${String(number * importedAtOnce + index).padStart(7, '0')}`,
      )
      return { path: 'suppression/import', body: JSON.stringify({ recipients }), readIds: () => recipients }
    }
    case 'upload': {
      const body = new FormData()
      // Its content makes the file unique; the type of Buffer is wider than that of a Blob's parts.
      body.set('file', new Blob([Uint8Array.from(pdf(4_096))], { type: 'application/pdf' }), `${number}.pdf`)
      return { path: 'media/upload', body, readIds: ({ mediaId }) => [String(mediaId)] }
    }
    case 'template': {
      const name = `made_${number}`
      const template = { name, language: 'en', category: 'UTILITY', body: { text: 'Thank you for your order.' } }
      return { path: 'template/create', body: JSON.stringify(template), readIds: () => [name] }
    }
  }
}

async function repeatUntilAcknowledged(
  { apiKey, ledger, random, dispatcher, pickNode, isStopped, onAcknowledged }: OtherWorkOptions,
  work: OtherWork,
  { path, body, readIds }: Request,
): Promise<void> {
  while (!isStopped()) {
    const node = await pickNode()
    try {
      const response = await request(`${node.url}/api/v1/${path}`, {
        method: 'POST',
        headers: { 'x-api-key': apiKey, ...(typeof body === 'string' && { 'content-type': 'application/json' }) },
        body,
        dispatcher,
        signal: AbortSignal.timeout(attemptMilliseconds),
      })
      const { data, error } = (await response.body.json()) as {
        data?: Record<string, unknown>
        error?: { code: string; message: string }
      }
      if (data) {
        const ids = readIds(data)
        onAcknowledged(ids)
        return ledger.write({ kind: 'work', work, ids })
      }
      if (isRefusal(response.statusCode))
        return ledger.write({ kind: 'work refused', work, status: response.statusCode, problem: error?.message ?? '' })
    } catch {
      // The response was lost, so the request is repeated.
    }
    await delay(random.between(100, 800))
  }
}

/** Anything else passes when the request is repeated. */
function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 409 && status !== 429
}
