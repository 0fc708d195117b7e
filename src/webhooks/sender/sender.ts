import { deliveryFailures } from '../../../contracts/facts/deliveries.ts'
import packageJson from '../../../package.json' with { type: 'json' }
import { BoundedMap } from '../../platform/bounded-map.ts'
import type { WebhookConfig } from '../../platform/config.ts'
import type { ProxySettings } from '../../platform/proxy.ts'
import type { Tracing } from '../../platform/telemetry/tracing.ts'
import { createAgent } from '../../platform/undici.ts'
import { allowAddresses, checkAddress, checkEndpointUrl } from '../endpoints/address.ts'
import { attemptOnce, writeRequestHeaders } from './attempt.ts'
import { createConnector } from './connector.ts'
import { cacheLookups, createDnsResolve, type Resolve, resolveWithSystem } from './resolve.ts'
import { createSigner } from './sign.ts'
import type { AttemptRequest, AttemptResult, WebhookSender } from './webhook-sender.ts'

/** Enough for all concurrent requests of a worker, because many endpoints can share an origin. */
const connectionsPerOrigin = 2_048
const maxResponseHeaderBytes = 16 * 1024
/** Many times what an attempt reads of headers and a body, and more than sockets buffer. */
const maxResponseBytes = 1024 * 1024
const maxTargets = 10_000
const userAgent = `Waybill/${packageJson.version}`

export interface SenderOptions {
  resolve?: Resolve
  /** Certificates to trust instead of the system's. */
  ca?: string
  proxies?: ProxySettings | undefined
}

interface Target {
  origin: string
  path: string
}

/** Follows no redirect and lets no proxy resolve names, so an attempt only reaches the endpoint's own address. */
export function createWebhookSender(
  { timeoutSeconds, ...rules }: Omit<WebhookConfig, 'retrySeconds'>,
  { resolve, ca, proxies }: SenderOptions = {},
): WebhookSender {
  const timeoutMilliseconds = timeoutSeconds * 1000
  const addresses = {
    resolve: cacheLookups(resolve ?? (rules.allowPrivate ? resolveWithSystem : createDnsResolve())),
    isAllowed: allowAddresses(rules),
  }
  const agent = createAgent({
    allowH2: false,
    connections: connectionsPerOrigin,
    maxHeaderSize: maxResponseHeaderBytes,
    // `attemptOnce` enforces one timeout for the whole attempt.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: createConnector({
      ...addresses,
      connectTimeoutMilliseconds: timeoutMilliseconds,
      maxResponseBytes,
      proxies,
      ...(ca !== undefined && { ca }),
    }),
  })
  const sign = createSigner()
  const findTarget = cacheTargets(rules)
  const send = (url: string, timestamp: Date, { headers, body }: { headers: string[]; body: string }) => {
    const target = findTarget(url)
    // The URL was allowed when it was stored, but the rules have changed since.
    if (!target) return Promise.resolve(notAllowed())
    return attemptOnce(agent, { ...target, method: 'POST', headers, body }, { timeoutMilliseconds, timestamp })
  }
  return {
    attempt: ({ url, headers, eventId, payload, secrets, timestamp }: AttemptRequest) => {
      const timestampSeconds = Math.floor(timestamp.getTime() / 1000)
      const signature = sign({ id: eventId, timestampSeconds, payload }, secrets)
      const standard = { id: eventId, timestampSeconds, signature, userAgent }
      return send(url, timestamp, { headers: writeRequestHeaders(standard, headers), body: payload })
    },
    post: ({ url, body, timestamp }) =>
      send(url, timestamp, { headers: ['content-type', 'application/json', 'user-agent', userAgent], body }),
    check: (url) => checkAddress(url, { ...rules, ...addresses }),
    close: () => agent.destroy(),
  }
}

function notAllowed(): AttemptResult {
  return { outcome: 'failed', error: deliveryFailures.addressNotAllowed(), durationMilliseconds: 0 }
}

/** Caches targets, because parsing and checking a URL costs as much as signing. */
function cacheTargets(
  rules: Pick<WebhookConfig, 'allowPrivate' | 'privateHosts'>,
): (url: string) => Target | undefined {
  const targets = new BoundedMap<string, Target | undefined>(maxTargets)
  return (text) => {
    if (targets.has(text)) return targets.get(text)
    const url = checkEndpointUrl(text, rules)
    const target = url && { origin: url.origin, path: url.pathname + url.search }
    targets.set(text, target)
    return target
  }
}

/**
 * Records a span for each attempt. It continues the trace that caused the event, even in another process or hours
 * later, and propagates its context to the endpoint.
 */
export function traceWebhookSender(sender: WebhookSender, tracing: Tracing): WebhookSender {
  return {
    ...sender,
    attempt: async (request) => {
      const traceparent = request.delivery?.traceparent
      const trace = traceparent ? tracing.fromTraceparent(traceparent) : tracing.active()
      const { span, context } = tracing.start(
        { name: 'POST webhook', kind: 'client', attributes: describeAttempt(request) },
        trace,
      )
      const headers = { ...withoutTraceContext(request.headers), ...tracing.inject(context) }
      const result = await tracing.within(context, () => sender.attempt({ ...request, headers }))
      span.setAttributes(describeResult(result))
      span.end()
      return result
    },
  }
}

/** Includes only the host of the URL, because its path and query can contain secrets. */
function describeAttempt({ url, eventId, delivery }: AttemptRequest): Record<string, string | number> {
  const server = URL.canParse(url) ? new URL(url) : undefined
  return {
    'http.request.method': 'POST',
    ...(server && {
      'server.address': server.hostname,
      'server.port': server.port === '' ? (server.protocol === 'https:' ? 443 : 80) : Number(server.port),
    }),
    'messaging.message.id': eventId,
    ...(delivery && {
      'http.request.resend_count': delivery.attempts,
      'waybill.account.id': delivery.accountId,
      'waybill.delivery.id': delivery.id,
      'waybill.endpoint.id': delivery.endpointId,
    }),
  }
}

/** Custom headers must not override the trace context. */
function withoutTraceContext(headers: AttemptRequest['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !['traceparent', 'tracestate'].includes(name.toLowerCase())),
  )
}

function describeResult({ outcome, statusCode }: AttemptResult): Record<string, string | number> {
  return {
    ...(statusCode !== undefined && { 'http.response.status_code': statusCode }),
    ...(outcome !== 'delivered' && { 'error.type': statusCode === undefined ? 'no_response' : String(statusCode) }),
  }
}
