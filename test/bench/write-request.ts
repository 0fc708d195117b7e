/** The bytes of a POST request. */
export function writeRequest({
  url,
  path,
  headers,
  body,
}: {
  url: string
  path: string
  headers: Record<string, string>
  body: string
}): Buffer {
  const fields = { host: new URL(url).host, ...headers, 'content-length': String(Buffer.byteLength(body)) }
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${head.join('')}\r\n${body}`)
}
