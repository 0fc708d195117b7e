import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ProxySettings } from '../../platform/proxy.ts'
import type { Tracing } from '../../platform/telemetry/tracing.ts'
import { createPool } from '../../platform/undici.ts'
import type { PhoneNumberInfo } from '../onboarding.ts'
import type { ReadOutcome } from '../read-outcome.ts'
import type {
  Endpoint,
  MediaOutcome,
  MediaUpload,
  OutgoingTemplate,
  Route,
  Sender,
  SendOutcome,
  WhatsApp,
} from '../whatsapp.ts'
import { exchange as exchangeUntraced, type Exchange, type GraphRequest, traceExchange } from './exchange.ts'
import { createOnboarding, type GraphCall, toPhoneNumberInfo } from './onboarding.ts'
import { listTemplates, parseResponse, type ReadPage, readPages } from './read.ts'
import { readRefusal } from './refusal.ts'
import { readSend, readWrongEndpoint, toSendBody } from './send-template.ts'
import { createTemplateManagement, type UploadCall } from './template-management.ts'
import { DeletedContact, DeleteResponse, ListedNumber, Page, parseJson, PhoneNumber, UploadResponse } from './wire.ts'

export interface CloudApiOptions {
  /** Base URL of the Graph API; a path in it is kept. */
  url: string
  /** Pinned version such as `v25.0`, because without one WhatsApp uses the newest (reference, section 1). */
  version: string
  tracing?: Tracing | undefined
  proxies?: ProxySettings | undefined
  timeouts?: Partial<Timeouts>
  maxConnections?: number
  maxSends?: number
}

interface Timeouts {
  connectMs: number
  /** Maximum time from the start of a request to its first byte; for a send, including its retry. */
  queueMs: number
  /** Maximum time from the first byte of a send to the last byte of its response. */
  sendMs: number
  /** The same for each page of a read. */
  readMs: number
  /** The same for the upload of a file of up to 100 MB. */
  uploadMs: number
}

/** A send takes at most 25 seconds: callers commonly time out after 30, and idempotency keys assume less than 60. */
const defaultTimeouts: Timeouts = {
  connectMs: 3_000,
  queueMs: 5_000,
  sendMs: 20_000,
  readMs: 20_000,
  uploadMs: 120_000,
}
/** A send holds a connection until WhatsApp responds, commonly for a tenth of a second. */
const defaultMaxConnections = 1024
/**
 * Sends beyond the connections wait in memory and take a few kilobytes each. With more of them, most would time out.
 */
const defaultMaxSends = 4 * defaultMaxConnections
/** A sample can have up to 100 MB. */
const sampleMs = 5 * 60_000
const retryPauseMs = 200
const maxSendResponseBytes = 1024 * 1024
/** A page holds up to 100 templates, and Meta may escape each character with six bytes. */
const maxReadResponseBytes = 8 * 1024 * 1024
const phoneNumberFields = 'display_phone_number,verified_name,status,quality_rating,throughput'

/** Creates a client for the WhatsApp Cloud API with keep-alive connections. */
export function createCloudApi({
  url,
  version,
  tracing,
  proxies,
  timeouts,
  maxConnections = defaultMaxConnections,
  maxSends = defaultMaxSends,
}: CloudApiOptions): WhatsApp {
  const { connectMs, queueMs, sendMs, readMs, uploadMs } = { ...defaultTimeouts, ...timeouts }
  const base = new URL(url)
  const exchange = tracing ? traceExchange(tracing, base) : exchangeUntraced
  const prefix = `${base.pathname.replace(/\/+$/, '')}/${version}`
  const pool = createPool(
    base.origin,
    {
      connections: maxConnections,
      connect: { timeout: connectMs },
      // One message per connection at a time, so that a broken connection leaves only one outcome unknown.
      allowH2: false,
      pipelining: 1,
      // The deadline of the exchange applies instead.
      headersTimeout: 0,
      bodyTimeout: 0,
    },
    proxies,
  )

  const call: GraphCall = (method, path, accessToken, body) => {
    const request: GraphRequest = {
      method,
      path: `${prefix}/${path}`,
      headers: { ...requestHeaders(accessToken), ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    }
    const limits = { startWithinMs: queueMs, respondWithinMs: readMs, maxResponseBytes: maxReadResponseBytes }
    return exchange(pool, request, limits)
  }
  /** Uploads use the authorization scheme `OAuth` instead of `Bearer` (reference 2, section 3.4). */
  const upload: UploadCall = (path, accessToken, body, sizeBytes) => {
    const headers = {
      authorization: `OAuth ${accessToken}`,
      accept: 'application/json',
      file_offset: '0',
      'content-type': 'application/octet-stream',
      'content-length': String(sizeBytes),
    }
    const limits = { startWithinMs: queueMs, respondWithinMs: sampleMs, maxResponseBytes: maxReadResponseBytes }
    return exchange(pool, { method: 'POST', path: `${prefix}/${path}`, headers, body }, limits)
  }
  const get = (path: string, accessToken: string) => call('GET', path, accessToken)

  let sends = 0
  const sendLimits = { startWithinMs: queueMs, respondWithinMs: sendMs, maxResponseBytes: maxSendResponseBytes }

  /** The endpoint changes at most once, and only after an answer that proves that nothing was sent. */
  async function sendTemplate(sender: Sender, message: OutgoingTemplate): Promise<SendOutcome> {
    if (sends >= maxSends) return tooManySends
    sends++
    try {
      const { accessToken } = sender
      const { 0: endpoint, 1: other } = message.route ?? defaultRoute
      const request = toRequest(sender, message, endpoint)
      const startsBy = performance.now() + queueMs
      const first = readSend(await exchange(pool, request, sendLimits, message.beforeWrite), accessToken, message)
      let { outcome } = first
      if (first.retryImmediately && startsBy - performance.now() >= 2 * retryPauseMs) {
        await sleep(retryPauseMs)
        outcome = await attemptAgain(sender, message, request, startsBy)
      }
      const code = other && readWrongEndpoint(endpoint, outcome)
      if (other === undefined || code === undefined) return outcome
      if (startsBy <= performance.now()) return { ...tooLateToReroute, reroutedAfter: code }
      outcome = await attemptAgain(sender, message, toRequest(sender, message, other), startsBy)
      return { ...outcome, reroutedAfter: code }
    } finally {
      sends--
    }
  }

  async function attemptAgain(
    { accessToken }: Sender,
    message: OutgoingTemplate,
    request: GraphRequest,
    startsBy: number,
  ): Promise<SendOutcome> {
    const limits = { ...sendLimits, startWithinMs: startsBy - performance.now() }
    return readSend(await exchange(pool, request, limits, message.beforeWrite), accessToken, message).outcome
  }

  function toRequest(sender: Sender, message: OutgoingTemplate, endpoint: Endpoint): GraphRequest {
    return {
      method: 'POST',
      path: `${prefix}/${encodeURIComponent(sender.phoneNumberId)}/${endpoint}`,
      headers: {
        authorization: `Bearer ${sender.accessToken}`,
        accept: 'application/json',
        'content-type': 'application/json',
      },
      body: JSON.stringify(toSendBody(message, endpoint, sender.messagingAccountId)),
    }
  }

  return {
    ...createOnboarding(call),
    ...createTemplateManagement(call, upload),
    sendTemplate,
    uploadMedia: async ({ phoneNumberId, accessToken }, file) => {
      const { contentType, length, body } = toUploadBody(file)
      const request: GraphRequest = {
        method: 'POST',
        path: `${prefix}/${encodeURIComponent(phoneNumberId)}/media`,
        headers: { ...requestHeaders(accessToken), 'content-type': contentType, 'content-length': String(length) },
        body,
      }
      const limits = { startWithinMs: queueMs, respondWithinMs: uploadMs, maxResponseBytes: maxSendResponseBytes }
      const response = await exchange(pool, request, limits)
      // If the request was not sent, the file is still open.
      file.body.destroy()
      return readUpload(response, accessToken)
    },
    deleteMedia: async ({ phoneNumberId, accessToken }, waMediaId) => {
      const path = `${encodeURIComponent(waMediaId)}?phone_number_id=${encodeURIComponent(phoneNumberId)}`
      return readDeletion(await call('DELETE', path, accessToken))
    },
    deleteContact: async ({ phoneNumberId, accessToken }, userId) => {
      const query = new URLSearchParams({ messaging_product: 'whatsapp', bsuid: userId }).toString()
      const response = await call('DELETE', `${encodeURIComponent(phoneNumberId)}/contact_book?${query}`, accessToken)
      const outcome = parseResponse(response, DeletedContact, accessToken)
      return outcome.ok ? { ok: true, value: outcome.value.deleted } : outcome
    },
    listTemplates: ({ wabaId, accessToken }) =>
      listTemplates(async (query) => {
        const response = await get(`${encodeURIComponent(wabaId)}/message_templates?${query}`, accessToken)
        return parseResponse(response, Page, accessToken)
      }),
    getPhoneNumber: async ({ phoneNumberId, accessToken }) => {
      const response = await get(`${encodeURIComponent(phoneNumberId)}?fields=${phoneNumberFields}`, accessToken)
      return describeNumber(parseResponse(response, PhoneNumber, accessToken))
    },
    hasPhoneNumber: async ({ wabaId, phoneNumberId, accessToken }) => {
      const readPage: ReadPage = async (query) =>
        parseResponse(await get(`${encodeURIComponent(wabaId)}/phone_numbers?${query}`, accessToken), Page, accessToken)
      const numbers = await readPages(readPage, { fields: 'id', of: 'phone numbers' })
      if (!numbers.ok) return numbers
      return { ok: true, value: numbers.value.some((item) => ListedNumber.safeParse(item).data?.id === phoneNumberId) }
    },
    close: () => pool.close(),
  }
}

const defaultRoute: Route = ['messages']

/** A second attempt that starts later could exceed the time of a send. */
const tooLateToReroute: SendOutcome = {
  kind: 'unavailable',
  reason: 'it took too long to say that this template belongs to its other endpoint',
  retryAfterSeconds: 5,
}

const tooManySends: SendOutcome = {
  kind: 'unavailable',
  reason: 'too many sends of this server are already waiting',
  retryAfterSeconds: 5,
}

function requestHeaders(accessToken: string): Record<string, string> {
  return { authorization: `Bearer ${accessToken}`, accept: 'application/json' }
}

type PhoneNumberNode = ReturnType<typeof PhoneNumber.parse>

function describeNumber(outcome: ReadOutcome<PhoneNumberNode>): ReadOutcome<PhoneNumberInfo> {
  if (!outcome.ok) return outcome
  return { ok: true, value: toPhoneNumberInfo(outcome.value) }
}

/** Returns the body of `POST /<phone number id>/media` (reference 2, section 4) as a stream. */
function toUploadBody({ type, size, filename, body }: MediaUpload) {
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
  if (!refusal || refusal.verdict.kind === 'unknown')
    return { kind: 'unavailable', reason: `an unreadable response with HTTP ${status}` }
  const { errorCode, retryAfterSeconds, accountUnusable = false } = refusal.verdict
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
