import { sendMessage } from '../../../../contracts/api/message.ts'
import type { ApiRequestDetails } from '../../../../contracts/dashboard/request.ts'
import { quoteForShell } from '../../ui/quote-for-shell.ts'

/** The request as a curl command. Redacted values stay redacted; the key is a shell variable. */
export function toCurl({ requestId, method, path, request }: ApiRequestDetails, origin: string): string {
  const key = '-H "X-API-Key: $WAYBILL_API_KEY"'
  if (method === 'GET') return ['curl -G ' + quoteForShell(origin + path), key, ...listQuery(request)].join(' \\\n  ')
  return [
    `curl -X ${method} ${quoteForShell(origin + path)}`,
    key,
    ...(path === sendMessage.path ? [`-H "Idempotency-Key: again-${requestId}"`] : []),
    ...(request === undefined ? [] : ['-H "Content-Type: application/json"', `-d ${quoteForShell(request)}`]),
  ].join(' \\\n  ')
}

/** Queries are stored as JSON. A truncated one is not valid JSON and is omitted. */
function listQuery(request: string | undefined): string[] {
  try {
    const query: unknown = JSON.parse(request ?? '{}')
    return Object.entries(query ?? {}).map(([name, value]) =>
      ['--data-urlencode', quoteForShell(`${name}=${String(value)}`)].join(' '),
    )
  } catch {
    return []
  }
}
