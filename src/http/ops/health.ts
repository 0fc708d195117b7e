import type { FastifyInstance } from 'fastify'
import type { Deps } from '../../deps.ts'
import { isReady } from '../../platform/db/database.ts'

/**
 * `/healthz`: the process answers. `/readyz`: it can serve, so the database answers and no stop was
 * asked for; a load balancer takes a node that is not ready out of rotation.
 */
export function registerHealth(app: FastifyInstance, deps: Pick<Deps, 'db'>, isDraining: () => boolean): void {
  app.get('/healthz', () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    if (isDraining()) return reply.code(503).send({ status: 'stopping' })
    if (await isReady(deps.db)) return { status: 'ready' }
    return reply.code(503).send({ status: 'database unavailable' })
  })
}
