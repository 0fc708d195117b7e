import type { Tracing } from '../../platform/telemetry/tracing.ts'
import { type Exchange, exchange } from './exchange.ts'

/** Records a span for each request to WhatsApp that belongs to a trace. No trace context is sent to WhatsApp. */
export function traceExchange(tracing: Tracing, { hostname, port, protocol }: URL): typeof exchange {
  const server = {
    'server.address': hostname,
    'server.port': port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
  }
  return (dispatcher, request, limits, beforeWrite) => {
    const template = toTemplate(request.path)
    const attributes = { 'http.request.method': request.method, 'url.template': template, ...server }
    return tracing.child({ name: `${request.method} ${template}`, kind: 'client', attributes }, async (span) => {
      const result = await exchange(dispatcher, request, limits, beforeWrite)
      span?.setAttributes(describeResult(result))
      return result
    })
  }
}

/** Keeps the version and words; IDs, signatures and the query can identify or authorize. */
function toTemplate(path: string): string {
  const [pathname = ''] = path.split('?')
  return pathname
    .split('/')
    .map((part) => (/^([a-z_]{0,32}|v\d+\.\d+)$/.test(part) ? part : '{id}'))
    .join('/')
}

function describeResult(result: Exchange): Record<string, string | number> {
  if (result.kind !== 'answered') return { 'error.type': result.kind }
  return {
    'http.response.status_code': result.status,
    ...(result.status >= 400 && { 'error.type': String(result.status) }),
  }
}
