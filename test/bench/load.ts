/**
 * Process: the load generator. Keeps one request in flight on each of its connections and prints a
 * `LoadResult` as JSON. Bare sockets and a prepared request, since it shares the machine with what
 * it measures; any answer but a 200 ends it, so that no figure counts failures. Where refusals are
 * expected, a caller that got a 503 comes again after the second that `Retry-After` asks for.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { writeCallbacks } from './callbacks.ts'
import { assertServed, openConnection, type Connection } from './connection.ts'
import { repeatRequest } from './repeated-request.ts'
import type { LoadOptions, LoadResult } from './run-load.ts'
import type { Target } from './target.ts'

// run-load.ts, which alone starts this process, has written them.
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

/** For each connection its requests. Callbacks are told once, whichever connection carries them. */
function requestsTo(target: Target): () => () => Buffer {
  if ('body' in target) return () => repeatRequest(target)
  const nextCallback = writeCallbacks(target)
  return () => nextCallback
}

/** Returns how many answers a second it got, from its first request in the measured time to the answer of its last. */
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

/** Resolves, when the measured time is over, to the share of a core that this process took. */
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
if (latencies.length === 0) throw new Error('nothing was answered in the measured time: the rounds are too short')
const perSecond = rates.reduce((sum, rate) => sum + rate, 0)
const sorted = Float64Array.from(latencies).sort()
const percentile = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
const result: LoadResult = { perSecond, busy, p50: percentile(0.5), p99: percentile(0.99), answered }
console.log(JSON.stringify(result))
