import type { FastifyInstance } from 'fastify'
import type { Deps } from '../../deps.ts'
import { isReady } from '../../platform/db/database.ts'

/**
 * A server that is about to close ends each connection with its next response. One that drains is not ready either, so
 * that load balancers turn to other nodes; one that retires has a successor on the same port.
 */
export type ServerState = 'serving' | 'draining' | 'retiring'

/**
 * `/healthz` reports that the process responds. `/readyz` reports that it can serve: the database responds and the
 * process is not stopping. A load balancer removes a node that is not ready.
 */
export function registerHealth(app: FastifyInstance, deps: Pick<Deps, 'db'>, readState: () => ServerState): void {
  app.get('/healthz', () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    if (readState() === 'draining') return reply.code(503).send({ status: 'stopping' })
    if (await isReady(deps.db)) return { status: 'ready' }
    return reply.code(503).send({ status: 'database unavailable' })
  })
}
