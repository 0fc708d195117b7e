import type { FastifyInstance } from 'fastify'
import type { Deps } from '../../deps.ts'
import { isReady } from '../../platform/db/database.ts'

/**
 * A server that is stopping closes each connection with its next response. A draining server also reports that it is
 * not ready, so that load balancers use other nodes. A retiring one stays ready: its successor listens on the same port.
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
