import type { FastifyRequest } from 'fastify'

/** The header fields of a request as the web's own type; one that came twice is joined (RFC 9110, 5.3). */
export function toHeaders({ headers }: FastifyRequest): Headers {
  const result = new Headers()
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) result.set(name, Array.isArray(value) ? value.join(', ') : value)
  return result
}
