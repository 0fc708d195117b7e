/** What the protocol, the connection and we ourselves need: no endpoint can set these. */
const ours = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
])

/** Whether a header of this name is ours to set, and not the endpoint's. */
export function isReservedHeader(name: string): boolean {
  const lower = name.toLowerCase()
  return ours.has(lower) || lower.startsWith('webhook-')
}

export interface StandardHeaders {
  id: string
  timestampSeconds: number
  signature: string
  userAgent: string
}

/** All headers of an attempt, as undici takes them fastest: names and values in turns. */
export function writeRequestHeaders(
  { id, timestampSeconds, signature, userAgent }: StandardHeaders,
  custom: Readonly<Record<string, string>>,
): string[] {
  const headers = [
    'content-type',
    'application/json',
    'user-agent',
    userAgent,
    'webhook-id',
    id,
    'webhook-timestamp',
    String(timestampSeconds),
    'webhook-signature',
    signature,
  ]
  for (const [name, value] of Object.entries(custom)) if (!isReservedHeader(name)) headers.push(name, value)
  return headers
}
