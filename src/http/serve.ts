import { setTimeout as delay } from 'node:timers/promises'
import type { App } from '../app.ts'
import { deleteExpiredIdempotencyKeys } from '../message/store.ts'
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

const housekeepingMilliseconds = 60 * 60 * 1000

export async function startServing({ config, deps }: App, { sandbox }: { sandbox: boolean }): Promise<Serving> {
  let draining = false
  const server = await createServer(deps, {
    trustedProxies: config.trustedProxies,
    metricsToken: config.metricsToken,
    sandbox,
    isDraining: () => draining,
  })
  const url = await server.listen({ host: config.host, port: config.port })
  const housekeeping = setInterval(() => {
    deleteExpiredIdempotencyKeys(deps.db).catch((error: unknown) =>
      deps.log.warn({ err: error }, 'expired idempotency keys could not be deleted'),
    )
  }, housekeepingMilliseconds).unref()
  return {
    url,
    stop: async ({ drainMilliseconds = 0 } = {}) => {
      draining = true
      clearInterval(housekeeping)
      await delay(drainMilliseconds)
      await server.close()
    },
  }
}
