import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { App } from '../app.ts'
import { startHousekeeping } from './housekeeping.ts'
import { createServer } from './server.ts'

export interface Serving {
  /** Where the server listens, such as `http://127.0.0.1:3000`. */
  url: string
  /**
   * Readiness fails first and stays so for `drainMilliseconds`, so that load balancers see it; then
   * requests in flight finish. The app itself stays open.
   */
  stop(options?: { drainMilliseconds?: number }): Promise<void>
}

const idleCheckMilliseconds = 50

export async function startServing({ config, deps }: App, { sandbox }: { sandbox: boolean }): Promise<Serving> {
  let draining = false
  const server = await createServer(deps, {
    trustedProxies: config.trustedProxies,
    metricsToken: config.metricsToken,
    callbacks: config.meta,
    sandbox,
    isDraining: () => draining,
  })
  const url = await server.listen({ host: config.host, port: config.port })
  const housekeeping = startHousekeeping(deps)
  return {
    url,
    stop: async ({ drainMilliseconds = 0 } = {}) => {
      draining = true
      housekeeping.stop()
      await delay(drainMilliseconds)
      await closeAsRequestsEnd(server)
    },
  }
}

/**
 * A connection whose last request ends after the close began would be kept alive for its next one,
 * and hold the process for as long.
 */
async function closeAsRequestsEnd(server: FastifyInstance): Promise<void> {
  const idle = setInterval(() => server.server.closeIdleConnections(), idleCheckMilliseconds)
  await server.close()
  clearInterval(idle)
}
