import type { ApiRequestDetails } from '../../../../contracts/dashboard/request.ts'

/** The call as it was made. Values that were not kept stand in the body as they are shown; the key is a variable of the shell. */
export function toCurl({ method, path, request }: ApiRequestDetails, origin: string): string {
  const key = '-H "X-API-Key: $WAYBILL_API_KEY"'
  if (method === 'GET') return ['curl -G ' + quote(origin + path), key, ...listQuery(request)].join(' \\\n  ')
  return [
    `curl -X ${method} ${quote(origin + path)}`,
    key,
    ...(request === undefined ? [] : ['-H "Content-Type: application/json"', `-d ${quote(request)}`]),
  ].join(' \\\n  ')
}

/** The query is kept as JSON. One that was cut is none any more. */
function listQuery(request: string | undefined): string[] {
  try {
    const query: unknown = JSON.parse(request ?? '{}')
    return Object.entries(query ?? {}).map(([name, value]) =>
      ['--data-urlencode', quote(`${name}=${String(value)}`)].join(' '),
    )
  } catch {
    return []
  }
}

/** For a POSIX shell, which reads everything between single quotes as it is. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
