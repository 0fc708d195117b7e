import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { SpanDescription, StartedSpan, Tracing } from '../../platform/telemetry/tracing.ts'

/**
 * Records a span for each request and continues the caller's trace. The span has the route instead of the path, which
 * can contain a token or a phone number.
 */
export function traceRequests(app: FastifyInstance, tracing: Tracing): void {
  const spans = new WeakMap<FastifyRequest, StartedSpan>()
  app.addHook('onRequest', (request, reply, done) => {
    const started = tracing.start(describeRequest(request), tracing.extract(request.headers))
    spans.set(request, started)
    // Also emitted if the caller disconnects early.
    reply.raw.once('close', () => {
      started.span.setAttributes(describeResponse(request, reply))
      started.span.end()
    })
    tracing.within(started.context, done)
  })
  // Restores the context, which is lost while the body is read: socket events belong to no request.
  app.addHook('preValidation', (request, _reply, done) => tracing.within(spans.get(request)?.context, done))
}

function describeRequest(request: FastifyRequest): SpanDescription {
  const { method } = request
  const route = request.routeOptions.url
  return {
    name: route === undefined ? method : `${method} ${route}`,
    kind: 'server',
    attributes: {
      'http.request.method': method,
      ...(route !== undefined && { 'http.route': route }),
      'url.scheme': request.protocol,
      'network.protocol.version': request.raw.httpVersion,
      'waybill.request.id': request.id,
    },
  }
}

function describeResponse(
  { trace }: FastifyRequest,
  { raw, statusCode }: FastifyReply,
): SpanDescription['attributes'] & object {
  const code = trace?.failures?.[0]?.code
  return {
    ...(raw.headersSent && { 'http.response.status_code': statusCode }),
    ...(trace?.accountId !== undefined && { 'waybill.account.id': trace.accountId }),
    ...(trace?.messageIds && { 'waybill.message.ids': trace.messageIds }),
    ...(!raw.writableFinished ? { 'error.type': 'closed' } : code !== undefined && { 'error.type': code }),
  }
}
