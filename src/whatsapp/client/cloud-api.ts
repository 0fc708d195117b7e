import { setTimeout as sleep } from 'node:timers/promises'
import type { ProxySettings } from '../../platform/proxy.ts'
import type { Tracing } from '../../platform/telemetry/tracing.ts'
import { createPool } from '../../platform/undici.ts'
import type { PhoneNumberInfo } from '../onboarding.ts'
import type { ReadOutcome } from '../read-outcome.ts'
import type { Endpoint, OutgoingTemplate, Route, Sender, SendOutcome, WhatsApp } from '../whatsapp.ts'
import {
  type Exchange,
  exchange as exchangeUntraced,
  type ExchangeLimits,
  type GraphRequest,
  traceExchange,
} from './exchange.ts'
import { createMedia, type FileCall } from './media.ts'
import { createOnboarding, type GraphCall, toPhoneNumberInfo } from './onboarding.ts'
import { parseResponse, type ReadPage, readPages } from './read.ts'
import { type Attempt, chooseOutcome, readSend, readWrongEndpoint, toSendBody } from './send-template.ts'
import { createTemplateManagement, type UploadCall } from './template-management.ts'
import { DeletedContact, ListedNumber, Page, PhoneNumber } from './wire.ts'

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

/** One pool of keep-alive connections, and what its requests have in common. */
interface Graph {
  exchange: (request: GraphRequest, limits: ExchangeLimits, beforeWrite?: () => void) => Promise<Exchange>
  /** The path of the base URL with the version. */
  prefix: string
  timeouts: Timeouts
}

/** Creates a client for the WhatsApp Cloud API with keep-alive connections. */
export function createCloudApi({
  url,
  version,
  tracing,
  proxies,
  timeouts: given,
  maxConnections = defaultMaxConnections,
  maxSends = defaultMaxSends,
}: CloudApiOptions): WhatsApp {
  const timeouts = { ...defaultTimeouts, ...given }
  const base = new URL(url)
  const pool = createPool(
    base.origin,
    {
      connections: maxConnections,
      connect: { timeout: timeouts.connectMs },
      // One message per connection at a time, so that a broken connection leaves only one outcome unknown.
      allowH2: false,
      pipelining: 1,
      // The deadline of the exchange applies instead.
      headersTimeout: 0,
      bodyTimeout: 0,
    },
    proxies,
  )
  const exchange = tracing ? traceExchange(tracing, base) : exchangeUntraced
  const graph: Graph = {
    exchange: (request, limits, beforeWrite) => exchange(pool, request, limits, beforeWrite),
    prefix: `${base.pathname.replace(/\/+$/, '')}/${version}`,
    timeouts,
  }
  const call = createCall(graph)
  return {
    ...createOnboarding(call),
    ...createTemplateManagement(call, createSampleUpload(graph)),
    ...createMedia(call, createMediaUpload(graph)),
    ...createNumberCalls(call),
    sendTemplate: createSend(graph, maxSends),
    close: () => pool.close(),
  }
}

function createCall({ exchange, prefix, timeouts: { queueMs, readMs } }: Graph): GraphCall {
  const limits = { startWithinMs: queueMs, respondWithinMs: readMs, maxResponseBytes: maxReadResponseBytes }
  return (method, path, accessToken, body) => {
    const request: GraphRequest = {
      method,
      path: `${prefix}/${path}`,
      headers: { ...requestHeaders(accessToken), ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    }
    return exchange(request, limits)
  }
}

/** Uploads of samples use the authorization scheme `OAuth` instead of `Bearer` (reference 2, section 3.4). */
function createSampleUpload({ exchange, prefix, timeouts: { queueMs } }: Graph): UploadCall {
  const limits = { startWithinMs: queueMs, respondWithinMs: sampleMs, maxResponseBytes: maxReadResponseBytes }
  return (path, accessToken, body, sizeBytes) => {
    const headers = {
      authorization: `OAuth ${accessToken}`,
      accept: 'application/json',
      file_offset: '0',
      'content-type': 'application/octet-stream',
      'content-length': String(sizeBytes),
    }
    return exchange({ method: 'POST', path: `${prefix}/${path}`, headers, body }, limits)
  }
}

function createMediaUpload({ exchange, prefix, timeouts: { queueMs, uploadMs } }: Graph): FileCall {
  const limits = { startWithinMs: queueMs, respondWithinMs: uploadMs, maxResponseBytes: maxSendResponseBytes }
  return (path, accessToken, { contentType, length, body }) => {
    const headers = { ...requestHeaders(accessToken), 'content-type': contentType, 'content-length': String(length) }
    return exchange({ method: 'POST', path: `${prefix}/${path}`, headers, body }, limits)
  }
}

function createSend(graph: Graph, maxSends: number): WhatsApp['sendTemplate'] {
  const { exchange, prefix } = graph
  const { queueMs, sendMs } = graph.timeouts
  const limits = { startWithinMs: queueMs, respondWithinMs: sendMs, maxResponseBytes: maxSendResponseBytes }
  let sends = 0

  /** The endpoint changes at most once, and only after an answer that proves that nothing was sent. */
  async function sendTemplate(sender: Sender, message: OutgoingTemplate): Promise<SendOutcome> {
    if (sends >= maxSends) return tooManySends
    sends++
    try {
      const { accessToken } = sender
      const { 0: endpoint, 1: other } = message.route ?? defaultRoute
      const request = toSendRequest(prefix, sender, message, endpoint)
      const startsBy = performance.now() + queueMs
      let attempt = readSend(await exchange(request, limits, message.beforeWrite), accessToken, message)
      if (attempt.retryImmediately && startsBy - performance.now() >= 2 * retryPauseMs) {
        await sleep(retryPauseMs)
        attempt = await attemptAgain(sender, message, request, startsBy)
      }
      const { outcome, hasSuccessStatus = false } = attempt
      const code = other && !hasSuccessStatus ? readWrongEndpoint(endpoint, outcome) : undefined
      if (other === undefined || code === undefined) return outcome
      if (startsBy <= performance.now()) return { ...tooLateToReroute, reroutedAfter: code }
      const second = await attemptAgain(sender, message, toSendRequest(prefix, sender, message, other), startsBy)
      return {
        ...chooseOutcome({ endpoint, outcome }, { endpoint: other, outcome: second.outcome }),
        reroutedAfter: code,
      }
    } finally {
      sends--
    }
  }

  async function attemptAgain(
    { accessToken }: Sender,
    message: OutgoingTemplate,
    request: GraphRequest,
    startsBy: number,
  ): Promise<Attempt> {
    const remaining = { ...limits, startWithinMs: startsBy - performance.now() }
    return readSend(await exchange(request, remaining, message.beforeWrite), accessToken, message)
  }

  return sendTemplate
}

function toSendRequest(prefix: string, sender: Sender, message: OutgoingTemplate, endpoint: Endpoint): GraphRequest {
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

type NumberCalls = Pick<WhatsApp, 'getPhoneNumber' | 'hasPhoneNumber' | 'deleteContact'>

function createNumberCalls(call: GraphCall): NumberCalls {
  const get = (path: string, accessToken: string) => call('GET', path, accessToken)
  return {
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
    deleteContact: async ({ phoneNumberId, accessToken }, userId) => {
      const query = new URLSearchParams({ messaging_product: 'whatsapp', bsuid: userId }).toString()
      const response = await call('DELETE', `${encodeURIComponent(phoneNumberId)}/contact_book?${query}`, accessToken)
      const outcome = parseResponse(response, DeletedContact, accessToken)
      return outcome.ok ? { ok: true, value: outcome.value.deleted } : outcome
    },
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
