import cluster from 'node:cluster'
import { AggregatorRegistry, Counter, Gauge, Registry } from 'prom-client'
import { type FromProcess, numberVariable, ToProcess } from './ipc-messages.ts'

/** This process, if a supervisor started it. */
export interface SupervisedProcess {
  /** Starts at 1. The first process runs the housekeeping jobs. */
  number: number
  /** Resolves when the supervisor stops or replaces this process. */
  stopped: Promise<'SIGINT' | 'SIGTERM' | 'retired'>
  reportListening(url: string): void
  /** Returns the metrics of all processes in the Prometheus text format. */
  collectMetrics(): Promise<string>
  /** Closes the channel to the supervisor, which would keep the process alive. */
  leave(): void
}

/** Exceeds the time that the supervisor waits for a process that does not respond. */
const metricsTimeoutMilliseconds = 5_000

/** Returns undefined if this process is not supervised. The registry holds the metrics of this process. */
export function joinSupervisor(environment: NodeJS.ProcessEnv, registry: Registry): SupervisedProcess | undefined {
  const { worker } = cluster
  const number = Number(environment[numberVariable])
  if (!worker || !(number > 0)) return undefined
  const send = (message: FromProcess) => worker.send(message)
  const stopped = Promise.withResolvers<'SIGINT' | 'SIGTERM' | 'retired'>()
  const waiting = new Map<number, (metrics: Extract<ToProcess, { type: 'metrics' }>) => void>()
  let lastId = 0

  process.on('message', (message: unknown) => {
    const { data } = ToProcess.safeParse(message)
    if (data?.type === 'stop') stopped.resolve(data.because)
    if (data?.type === 'collect') void sendMetrics(data.id)
    if (data?.type === 'metrics') waiting.get(data.id)?.(data)
  })

  async function sendMetrics(id: number): Promise<void> {
    const metrics = await registry.getMetricsAsJSON()
    send({ type: 'part', id, part: metrics.map((metric) => ({ ...metric })) })
  }

  return {
    number,
    stopped: stopped.promise,
    reportListening: (url) => send({ type: 'listening', url }),
    collectMetrics: async () => {
      const id = ++lastId
      const { promise, resolve } = Promise.withResolvers<Extract<ToProcess, { type: 'metrics' }> | undefined>()
      const timer = setTimeout(() => resolve(undefined), metricsTimeoutMilliseconds)
      waiting.set(id, resolve)
      send({ type: 'metrics', id })
      const all = await promise
      clearTimeout(timer)
      waiting.delete(id)
      return all ? aggregate(all) : registry.metrics()
    },
    leave: () => void worker.disconnect(),
  }
}

/** Aggregates the metrics of all processes: each metric names its aggregation, by default the sum. */
async function aggregate({ parts, replaced }: Extract<ToProcess, { type: 'metrics' }>): Promise<string> {
  const processes = new Registry()
  const { reporting, deaths } = registerProcessMetrics(processes)
  reporting.set(parts.length)
  deaths.inc(replaced)
  const total = AggregatorRegistry.aggregate(parts)
  return `${await total.metrics()}\n${await processes.metrics()}`
}

export function registerProcessMetrics(registry: Registry): { reporting: Gauge; deaths: Counter } {
  const registers = [registry]
  return {
    reporting: new Gauge({
      name: 'waybill_processes',
      help: 'With `--processes`: server processes that answered this scrape.',
      registers,
    }),
    deaths: new Counter({
      name: 'waybill_processes_replaced_total',
      help: 'With `--processes`: server processes that died and were replaced.',
      registers,
    }),
  }
}
