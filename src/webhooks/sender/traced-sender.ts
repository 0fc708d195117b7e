import type { Tracing } from '../../platform/telemetry/tracing.ts'
import type { AttemptRequest, AttemptResult, WebhookSender } from './webhook-sender.ts'

/**
 * Records a span for each attempt. It continues the trace that caused the event, even in another process or hours
 * later, and propagates its context to the endpoint.
 */
export function traceWebhookSender(sender: WebhookSender, tracing: Tracing): WebhookSender {
  return {
    ...sender,
    attempt: async (request) => {
      const traceparent = request.delivery?.traceparent
      const cause = traceparent ? tracing.fromTraceparent(traceparent) : tracing.active()
      const { span, context } = tracing.start(
        { name: 'POST webhook', kind: 'client', attributes: describeAttempt(request) },
        cause,
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
      'waybill.account.id': delivery.account_id,
      'waybill.delivery.id': delivery.id,
      'waybill.endpoint.id': delivery.endpoint_id,
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
