import { createWriteStream } from 'node:fs'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Agent, request } from 'undici'
import { ServiceError } from '../../../contracts/errors.ts'
import packageJson from '../../../package.json' with { type: 'json' }
import type { DownloadResult, LinkReader } from '../../platform/link-reader.ts'
import { checkEndpointUrl, isPublicAddress } from '../endpoints/address.ts'
import { createConnector } from './connector.ts'
import { cacheAnswers, createDnsResolve, type Resolve, resolveAsTheMachine } from './resolve.ts'

const connectTimeoutMilliseconds = 10_000
const withinMilliseconds = 60_000
/** A download takes disk space and a connection; callers who meet a limit can try again. */
const maxConcurrent = 16
/** A slow link of one account must not keep the others waiting. */
const maxConcurrentOfAccount = 2
const retryAfterSeconds = 5
const userAgent = `Waybill/${packageJson.version}`

export interface LinkReaderOptions {
  /** For development. */
  allowPrivate: boolean
  resolve?: Resolve
  withinMilliseconds?: number
}

/** Reaches public addresses only, uses no proxy and follows no redirect, like the deliveries of webhooks. */
export function createLinkReader({ allowPrivate, resolve, ...options }: LinkReaderOptions): LinkReader {
  const deadline = options.withinMilliseconds ?? withinMilliseconds
  const agent = new Agent({
    allowH2: false,
    connect: createConnector({
      resolve: cacheAnswers(resolve ?? (allowPrivate ? resolveAsTheMachine : createDnsResolve())),
      isAllowed: allowPrivate ? () => true : isPublicAddress,
      connectTimeoutMilliseconds,
    }),
  })
  /** The account of each running download. */
  const running: string[] = []

  async function save(url: URL, path: string, maxBytes: number): Promise<DownloadResult> {
    const signal = AbortSignal.timeout(deadline)
    const { statusCode, headers, body } = await request(url, {
      dispatcher: agent,
      signal,
      // A compressed file could be larger than its limit.
      headers: { 'user-agent': userAgent, 'accept-encoding': 'identity' },
    })
    const problem = findProblem(statusCode, headers, maxBytes)
    if (problem !== undefined) {
      // Destroying it is no error, but it emits one.
      body.on('error', () => undefined).destroy()
      return { ok: false, problem }
    }
    const counter = countBytes(maxBytes)
    await pipeline(body, counter.stream, createWriteStream(path), { signal })
    return { ok: true, sizeBytes: counter.sizeBytes() }
  }

  return {
    download: async (text, path, { accountId, maxBytes }) => {
      const url = checkEndpointUrl(text, { allowPrivate })
      if (!url) return { ok: false, problem: 'must be an https address with a public host' }
      const ofAccount = running.filter((id) => id === accountId).length
      if (ofAccount >= maxConcurrentOfAccount || running.length >= maxConcurrent) throw tooManyDownloads()
      running.push(accountId)
      try {
        return await save(url, path, maxBytes)
      } catch (error) {
        return { ok: false, problem: describeFailure(error, deadline) }
      } finally {
        running.splice(running.indexOf(accountId), 1)
      }
    },
    close: () => agent.destroy(),
  }
}

function tooManyDownloads(): ServiceError {
  return new ServiceError(
    'SERVICE_UNAVAILABLE',
    'Too many links are being downloaded. Nothing was changed. Try again in a moment.',
    { retryAfterSeconds },
  )
}

function findProblem(
  statusCode: number,
  headers: Record<string, string | string[] | undefined>,
  maxBytes: number,
): string | undefined {
  if (statusCode >= 300 && statusCode < 400)
    return 'redirects to another address, which is not followed: use the final address'
  if (statusCode !== 200) return `answers with HTTP ${statusCode}`
  if (Number(headers['content-length'] ?? 0) > maxBytes) return tooLarge(maxBytes)
  const encoding = headers['content-encoding'] ?? 'identity'
  return encoding === 'identity' ? undefined : 'answers with a compressed file'
}

class TooLargeError extends Error {}

/** A server can announce a wrong length, or none. */
function countBytes(maxBytes: number): { stream: Transform; sizeBytes: () => number } {
  let bytes = 0
  const stream = new Transform({
    transform: (chunk: Buffer, _encoding, pass) => {
      bytes += chunk.length
      if (bytes > maxBytes) pass(new TooLargeError(tooLarge(maxBytes)))
      else pass(null, chunk)
    },
  })
  return { stream, sizeBytes: () => bytes }
}

function tooLarge(maxBytes: number): string {
  return `is larger than ${Math.floor(maxBytes / 1024 / 1024)} MB`
}

/** A private address and a host that does not exist look alike, because the difference would reveal our network. */
function describeFailure(error: unknown, deadline: number): string {
  if (error instanceof TooLargeError) return error.message
  if (error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError'))
    return `did not arrive within ${Math.round(deadline / 1000)} seconds`
  return 'cannot be downloaded: the host was not reached, or the connection broke'
}
