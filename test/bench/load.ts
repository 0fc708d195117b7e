/**
 * Process: the load generator. Keeps one request in flight on each of its connections and prints a
 * `LoadResult` as JSON. Bare sockets and a prepared request, since it shares the machine with what
 * it measures; any answer but a 200 ends it, so that no figure counts failures.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { openConnection, type Connection } from './connection.ts'
import type { LoadOptions, LoadResult } from './run-load.ts'

// run-load.ts, which alone starts this process, has written them.
const options = JSON.parse(process.argv[2] ?? '') as LoadOptions

const latencies: number[] = []
let answered = 0
const state: { phase: 'warming up' | 'measuring' | 'ending' } = { phase: 'warming up' }

async function keepBusy(connection: Connection): Promise<void> {
  while (state.phase !== 'ending') {
    const startedAt = performance.now()
    await connection.exchange()
    answered++
    if (state.phase === 'measuring') latencies.push(performance.now() - startedAt)
  }
  connection.close()
}

async function measure(): Promise<Pick<LoadResult, 'perSecond' | 'busy'>> {
  await delay(options.warmUpSeconds * 1000)
  state.phase = 'measuring'
  const startedAt = performance.now()
  const cpu = process.cpuUsage()
  await delay(options.seconds * 1000)
  state.phase = 'ending'
  const seconds = (performance.now() - startedAt) / 1000
  const { user, system } = process.cpuUsage(cpu)
  return { perSecond: latencies.length / seconds, busy: (user + system) / 1e6 / seconds }
}

const connections = await Promise.all(Array.from({ length: options.connections }, () => openConnection(options.target)))
const [measured] = await Promise.all([measure(), ...connections.map(keepBusy)])
const sorted = Float64Array.from(latencies).sort()
const percentile = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
const result: LoadResult = { ...measured, p50: percentile(0.5), p99: percentile(0.99), answered }
console.log(JSON.stringify(result))
