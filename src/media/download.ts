import type { Readable } from 'node:stream'
import type { Agent as UndiciAgent, Dispatcher } from 'undici'
import { deliveryFailures } from '../../contracts/facts/deliveries.ts'
import { inEnglish } from '../../contracts/facts/fact.ts'
import { maxMediaBytes } from '../../contracts/api/media.ts'
import { invalidField, ServiceError } from '../../contracts/errors.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { codeOf } from '../platform/error-code.ts'
import type { ProxySettings } from '../platform/proxy.ts'
import { createAgent, requestThrough } from '../platform/undici.ts'
import { explainAttemptError } from '../webhooks/sender/attempt.ts'
import { createConnector } from '../webhooks/sender/connector.ts'
import { cacheLookups, createDnsResolve, type Resolve, resolveWithSystem } from '../webhooks/sender/resolve.ts'
import type { SpoolProblems } from './spool.ts'
import { checkEndpointUrl, allowAddresses } from '../webhooks/endpoints/address.ts'

/** Downloads files from other servers, under the address rules of webhooks. */
export interface Downloader {
  /** Throws a `ServiceError` that says why there is no file. Reading the stream can fail too: see `toDownloadError`. */
  open(link: string): Promise<Readable>
  close(): Promise<void>
}

export interface DownloaderOptions {
  allowPrivate: boolean
  resolve?: Resolve
  /** Certificates to trust instead of the system's. */
  ca?: string
  timeoutMilliseconds?: number
  proxies?: ProxySettings | undefined
}

/** Maximum time from the request to the response headers, and between two chunks of the body. */
const defaultTimeoutMilliseconds = 10_000
const maxHeaderBytes = 16 * 1024
/** Leaves as much for headers and chunks as for the largest file. */
const maxResponseBytes = 2 * maxMediaBytes.document

/** Follows no redirect and lets no proxy resolve names, so that a request only reaches the address that was checked. */
export function createDownloader({
  allowPrivate,
  resolve,
  ca,
  timeoutMilliseconds = defaultTimeoutMilliseconds,
  proxies,
}: DownloaderOptions): Downloader {
  const agent = createAgent({
    allowH2: false,
    // No limit per origin, so that one account cannot block others. Upload slots limit the total.
    connections: null,
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: timeoutMilliseconds,
    bodyTimeout: timeoutMilliseconds,
    connect: createConnector({
      resolve: cacheLookups(resolve ?? (allowPrivate ? resolveWithSystem : createDnsResolve())),
      isAllowed: allowAddresses({ allowPrivate }),
      connectTimeoutMilliseconds: timeoutMilliseconds,
      maxResponseBytes,
      proxies,
      ...(ca !== undefined && { ca }),
    }),
  })
  return {
    open: async (link) => {
      const url = checkEndpointUrl(link, { allowPrivate })
      if (!url)
        throw invalidField(
          'link',
          'must be a public https address without user name, password or fragment, such as https://example.com/invoice.pdf.',
        )
      const response = await request(agent, url)
      const problem = findProblem(response)
      if (!problem) return response.body
      // Closes the connection, even if the server is still sending.
      response.body.on('error', () => {}).destroy()
      throw problem
    },
    close: () => agent.destroy(),
  }
}

async function request(agent: UndiciAgent, { origin, pathname, search }: URL): Promise<Dispatcher.ResponseData> {
  try {
    return await requestThrough(agent, {
      origin,
      path: pathname + search,
      method: 'GET',
      headers: { 'user-agent': `Waybill/${packageJson.version}`, 'accept-encoding': 'identity', accept: '*/*' },
    })
  } catch (error) {
    throw toDownloadError(error)
  }
}

function findProblem({ statusCode, headers }: Dispatcher.ResponseData): ServiceError | undefined {
  if (statusCode >= 300 && statusCode < 400)
    return failed(`the server answered with a redirect (HTTP ${statusCode}), which is not followed`)
  if (statusCode !== 200) return failed(`the server answered HTTP ${statusCode}`)
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') return failed('the server sent the file compressed')
  return Number(headers['content-length'] ?? 0) > maxMediaBytes.document
    ? new ServiceError('PAYLOAD_TOO_LARGE', 'The file is larger than 100 MB, the most that WhatsApp takes.')
    : undefined
}

/** Problems of a downloaded file, which the request names by its link. */
export const downloadProblems: SpoolProblems = {
  empty: () => invalidField('link', 'the file at this address is empty.'),
  late: tookTooLong,
}

/** Errors of connections become one of a fixed set of texts, so that they reveal nothing about our network. */
export function toDownloadError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  const code = codeOf(error)
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') return tookTooLong()
  if (code === 'UND_ERR_SOCKET' || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH')
    return failed('the connection ended before the file was complete')
  return failed(inEnglish(error instanceof Error ? explainAttemptError(error) : deliveryFailures.connectionLost()))
}

function tookTooLong(): ServiceError {
  return failed('the server took too long')
}

function failed(reason: string): ServiceError {
  const problem = `${reason}. Nothing was stored.`
  return new ServiceError('MEDIA_DOWNLOAD_FAILED', `link: ${problem}`, { fields: { link: problem } })
}
