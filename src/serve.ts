import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { Registry } from 'prom-client'
import { RequestLog } from './accounts/requests/request-log.ts'
import type { App } from './app.ts'
import { startClockWatch } from './background/clock-watch.ts'
import { createHousekeeping } from './background/housekeeping.ts'
import { startJournals } from './background/journals.ts'
import { createJobLog, startProcessReport } from './background/process-report.ts'
import type { Deps } from './deps.ts'
import { type Config, findConfigWarnings } from './platform/config.ts'
import { Mailer } from './platform/email/mailer.ts'
import { createPoster } from './webhooks/alerts/chat/poster.ts'
import type { DeliveryJournal } from './webhooks/queue/delivery-journal.ts'
import { registerWorkerMetrics } from './webhooks/queue/metrics.ts'
import { Worker } from './webhooks/queue/worker.ts'
import {
  countSends,
  registerChatMetric,
  registerEmailMetric,
  registerOutcomesUnknownMetric,
  registerRequestLogMetric,
} from './http/ops/metrics.ts'
import type { ServerState } from './http/ops/health.ts'
import { createServer } from './http/server.ts'

/** `api` serves requests, `worker` delivers webhooks and sends emails and posts, `all` does both. */
export type ProcessRole = 'all' | 'api' | 'worker'

export interface Serving {
  /** Where the server listens, such as `http://127.0.0.1:3000`. */
  url: string
  /**
   * First fails readiness for `drainMilliseconds`, so that load balancers notice; each response then closes its
   * connection. After that, waits for requests and deliveries in progress. Does not close the app.
   */
  stop(drain?: Drain): Promise<void>
}

export interface Drain {
  drainMilliseconds?: number
  /** For a process with a successor on the same port: readiness does not fail. */
  staysReady?: boolean
}

export interface ServeOptions {
  sandbox: boolean
  role?: ProcessRole
  /** Receives the metrics of this process. */
  registry?: Registry
  /** False in all but one of several processes of a machine. */
  doesHousekeeping?: boolean
  /** The text of `/metrics`; by default, that of the registry. */
  collectMetrics?: () => Promise<string>
}

const idleCheckMilliseconds = 50
/** Within the usual shutdown timeout of 30 seconds. Only a send that first uploads its file can take longer. */
const maxClosingMilliseconds = 27_000

export async function startServing(
  { config, deps: appDeps }: App,
  { sandbox, role = 'all', registry = new Registry(), doesHousekeeping = true, collectMetrics }: ServeOptions,
): Promise<Serving> {
  for (const warning of findConfigWarnings(config)) appDeps.log.warn(warning)
  let state: ServerState = 'serving'
  const journals = startJournals(appDeps, config, { sends: role !== 'worker', delivers: role !== 'api' })
  const deps: Deps = { ...appDeps, sendJournal: journals.sends, whatsapp: countSends(appDeps.whatsapp, registry) }
  const worker = role === 'api' ? undefined : createWorker(deps, config, { registry, journal: journals.deliveries })
  const mailer = role === 'api' ? undefined : createMailer(deps, registry)
  const requestLog =
    config.requestLogDays === 0 || role === 'worker'
      ? undefined
      : new RequestLog(deps.db, { log: deps.log, onDropped: registerRequestLogMetric(registry) })
  const poster = role === 'api' ? undefined : createPoster(deps, registerChatMetric(registry))
  const server = await createServer(deps, {
    trustedProxies: config.trustedProxies,
    metricsToken: config.metricsToken,
    registry,
    ...(collectMetrics && { collectMetrics }),
    callbacks: config.meta,
    healthOnly: role === 'worker',
    sandbox,
    publicUrl: config.publicUrl,
    oidc: config.oidc,
    readState: () => state,
    requestLog,
  })
  const url = await server.listen({ host: config.host, port: config.port })
  const clockWatch = await startClockWatch(deps, registry)
  await journals.replayed
  worker?.start()
  mailer?.start()
  poster?.start()
  const onOutcomesUnknown = registerOutcomesUnknownMetric(registry)
  const jobLog = createJobLog(deps.now)
  const housekeeping = doesHousekeeping ? createHousekeeping(deps, { ...config, onOutcomesUnknown, jobLog }) : undefined
  housekeeping?.start()
  const processReport = startProcessReport(deps, { role, listJobs: jobLog.list })
  return {
    url,
    stop: async ({ drainMilliseconds = 0, staysReady = false } = {}) => {
      state = staysReady ? 'retiring' : 'draining'
      const housekeepingStopped = Promise.all([housekeeping?.stop(), clockWatch.stop()])
      const workersStopped = Promise.all([worker?.stop(), mailer?.stop(), poster?.stop()])
      await delay(drainMilliseconds)
      await closeAsRequestsEnd(server)
      await requestLog?.stop()
      await processReport.stop()
      await housekeepingStopped
      await workersStopped
      await journals.stop()
    },
  }
}

function createMailer(deps: Deps, registry: Registry): Mailer | undefined {
  return deps.mail && new Mailer(deps, deps.mail, registerEmailMetric(registry))
}

function createWorker(
  deps: Deps,
  config: Config,
  { registry, journal }: { registry: Registry; journal: DeliveryJournal },
): Worker {
  const worker: Worker = new Worker(deps, config.webhooks, {
    journal,
    observer: registerWorkerMetrics(registry, () => worker.held),
  })
  return worker
}

/**
 * Repeatedly closes idle connections: one whose last request ends after the close began would be kept alive and delay
 * the shutdown.
 */
async function closeAsRequestsEnd(server: FastifyInstance): Promise<void> {
  const idle = setInterval(() => server.server.closeIdleConnections(), idleCheckMilliseconds)
  // Connections still open then belong to clients that neither complete their requests nor read their responses.
  const deadline = setTimeout(() => server.server.closeAllConnections(), maxClosingMilliseconds)
  await server.close()
  clearInterval(idle)
  clearTimeout(deadline)
}
