/**
 * Process: the load generator. Keeps one request in progress on each connection and prints a `LoadResult` as JSON. It
 * uses raw sockets and prepared requests because it shares the machine with the measured server. It stops on any
 * response other than 200, so that no figure includes failures. Where refusals are expected, a caller that receives a
 * 503 retries after the delay in `Retry-After`.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { writeCallbacks } from './callbacks.ts'
import { assertServed, openConnection, type Connection } from './connection.ts'
import { type LoadOptions, type LoadResult, repeatRequest, type Target } from './run-load.ts'

// Written by run-load.ts, the only file that starts this process.
const options = JSON.parse(process.argv[2] ?? '') as LoadOptions

const retryAfterMilliseconds = 1_000

const latencies: number[] = []
let answered = 0
const state: { phase: 'warming up' | 'measuring' | 'ending' } = { phase: 'warming up' }

async function openConnections({ targets, connections }: LoadOptions): Promise<Connection[]> {
  const openers = targets.map((target) => {
    const requests = requestsTo(target)
    return () => openConnection(target.url, requests())
  })
  const opened = Array.from({ length: Math.ceil(connections / openers.length) }, () => openers.map((open) => open()))
  return Promise.all(opened.flat())
}

/** The requests of each connection. Callbacks are sent once, on any connection. */
function requestsTo(target: Target): () => () => Buffer {
  if ('body' in target) return () => repeatRequest(target)
  const nextCallback = writeCallbacks(target)
  return () => nextCallback
}

/** Returns the responses per second, from the first request in the measured time to the last response. */
async function keepBusy(connection: Connection): Promise<number> {
  let [measured, measuredSince, measuredUntil] = [0, 0, 0]
  while (state.phase !== 'ending') {
    const isMeasured = state.phase === 'measuring'
    const startedAt = performance.now()
    const outcome = await connection.exchange()
    if (!options.mayRefuse) assertServed(outcome)
    if (outcome === 'refused') {
      await delay(retryAfterMilliseconds)
      continue
    }
    answered++
    if (!isMeasured) continue
    measuredUntil = performance.now()
    if (measured++ === 0) measuredSince = startedAt
    latencies.push(measuredUntil - startedAt)
  }
  connection.close()
  return measured === 0 ? 0 : (measured * 1000) / (measuredUntil - measuredSince)
}

/** Resolves to this process's share of a core when the measured time has ended. */
async function measure(): Promise<number> {
  await delay(options.warmUpSeconds * 1000)
  state.phase = 'measuring'
  const startedAt = performance.now()
  const cpu = process.cpuUsage()
  await delay(options.seconds * 1000)
  state.phase = 'ending'
  const { user, system } = process.cpuUsage(cpu)
  return (user + system) / 1000 / (performance.now() - startedAt)
}

const connections = await openConnections(options)
const [busy, ...rates] = await Promise.all([measure(), ...connections.map(keepBusy)])
if (latencies.length === 0) throw new Error('no responses in the measured time: the rounds are too short')
const perSecond = rates.reduce((sum, rate) => sum + rate, 0)
const sorted = Float64Array.from(latencies).sort()
const percentile = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
const result: LoadResult = { perSecond, busy, p50: percentile(0.5), p99: percentile(0.99), answered }
console.log(JSON.stringify(result))
