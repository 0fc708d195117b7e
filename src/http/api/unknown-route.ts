import type { FastifyInstance, FastifyReply } from 'fastify'
import { ServiceError } from '../../../contracts/errors.ts'
import type { ApiProcedure } from '../../../contracts/procedure.ts'

/** Explains why no procedure serves a URL, and sets `Allow` if it serves another method (RFC 9110, 15.5.6). */
export type ExplainUnknownRoute = (url: string, reply: FastifyReply) => ServiceError

export function createExplainUnknownRoute(contracts: ApiProcedure[]): ExplainUnknownRoute {
  const routes = contracts.map(({ path, method }) => ({
    path,
    pattern: toPattern(path),
    methods: method === 'GET' ? ['GET', 'HEAD'] : [method],
  }))
  return (url, reply) => {
    const [path = ''] = url.split('?')
    const matching = routes.filter(({ pattern }) => pattern.test(path))
    // `/message/send` is a route of its own, not the message with the ID `send`.
    const exact = matching.filter((route) => route.path === path)
    const allowed = [...new Set((exact.length > 0 ? exact : matching).flatMap(({ methods }) => methods))]
    if (allowed.length === 0)
      return new ServiceError('NOT_FOUND', 'There is no such route. The routes are listed in /openapi.json.')
    void reply.header('Allow', allowed.join(', '))
    return new ServiceError('METHOD_NOT_ALLOWED', `This route takes ${allowed.join(' and ')} only.`)
  }
}

/** Keeps `GET /message/{messageId}` from serving `GET /message/send`. */
export function reserveExactPaths(app: FastifyInstance, contracts: ApiProcedure[], explain: ExplainUnknownRoute): void {
  for (const { path, method } of contracts) {
    const shadowing = contracts.filter((other) => other.path !== path && toPattern(other.path).test(path))
    for (const other of shadowing)
      if (other.method !== method)
        app.route({
          method: other.method,
          url: path,
          handler: (_request, reply) => {
            throw explain(path, reply)
          },
        })
  }
}

function toPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}
