import type { RequestListener } from 'node:http'

/**
 * Some proxies write the port of the caller, too (`198.51.100.7:51432`, `[2001:db8::1]:51432`), as the `Forwarded` header
 * requires for IPv6 (RFC 7239, 6). Removes it before Fastify reads the header, so that the address can be compared.
 */
export function withoutPorts(handler: RequestListener): RequestListener {
  return (request, response) => {
    const { headers } = request
    const forwarded = headers['x-forwarded-for']
    if (typeof forwarded === 'string' && forwarded.includes(':'))
      headers['x-forwarded-for'] = forwarded.split(',').map(toAddress).join(',')
    handler(request, response)
  }
}

/** An address with a port, or an IPv6 address in brackets with or without one, and either in quotes. */
const withPort = /^"?(?:\[([\da-f:.]+)\](?::\d{1,5})?|(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5})"?$/i

function toAddress(entry: string): string {
  const [, bracketed, dotted] = withPort.exec(entry.trim()) ?? []
  return bracketed ?? dotted ?? entry
}
