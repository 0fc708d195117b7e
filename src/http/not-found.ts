import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../../contracts/errors.ts'
import type { Procedure } from './procedures.ts'

/** Answers unknown routes, and known ones called with another method (RFC 9110, 15.5.6: with `Allow`). */
export function registerNotFound(app: FastifyInstance, procedures: Procedure[]): void {
  const routes = procedures.map(({ contract }) => ({
    pattern: new RegExp(`^${contract.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    methods: contract.method === 'GET' ? ['GET', 'HEAD'] : [contract.method],
  }))
  app.setNotFoundHandler((request, reply) => {
    const [path = ''] = request.url.split('?')
    const allowed = [...new Set(routes.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods))]
    if (allowed.length === 0)
      throw new ServiceError('NOT_FOUND', 'There is no such route. The routes are listed in /openapi.json.')
    void reply.header('Allow', allowed.join(', '))
    throw new ServiceError('METHOD_NOT_ALLOWED', `This route takes ${allowed.join(' and ')} only.`)
  })
}
