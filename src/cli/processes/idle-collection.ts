import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const intervalMilliseconds = 1_000
/** Shares of an interval in which the event loop was busy. */
const busy = 0.5
const idle = 0.1
/** Number of idle intervals before a collection, which pauses the process for about a tenth of a second. */
const idleIntervals = 3
const minPauseMilliseconds = 30_000

export interface IdleCollection {
  /** Whether the process was busy since the last collection. */
  wasBusy: boolean
  /** Number of consecutive idle intervals. */
  idleFor: number
  collectedAt: number
}

/** Decides from the utilization of the last interval whether to collect garbage now. */
export function observe(
  { wasBusy, idleFor, collectedAt }: IdleCollection,
  { utilization, now }: { utilization: number; now: number },
): IdleCollection {
  if (utilization > idle) return { wasBusy: wasBusy || utilization > busy, idleFor: 0, collectedAt }
  const isDue = wasBusy && idleFor + 1 >= idleIntervals && now - collectedAt >= minPauseMilliseconds
  return isDue ? { wasBusy: false, idleFor: 0, collectedAt: now } : { wasBusy, idleFor: idleFor + 1, collectedAt }
}

/**
 * Collects garbage once a server is idle after its start, and after each burst of requests. V8 collects only when the
 * heap grows, so an idle server would keep the memory of the last burst.
 */
export function collectWhenIdle(): void {
  const collect = exposeCollection()
  let before = performance.eventLoopUtilization()
  // The start itself counts as busy.
  let state: IdleCollection = { wasBusy: true, idleFor: 0, collectedAt: -Infinity }
  const look = () => {
    const elapsed = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(elapsed, before)
    before = elapsed
    const next = observe(state, { utilization, now: performance.now() })
    if (next.collectedAt !== state.collectedAt) void collect()
    state = next
  }
  setInterval(look, intervalMilliseconds).unref()
}

/** The kind of collection that V8 runs when memory is exhausted: others do not return pages to the system. */
const collectAll = { type: 'major', execution: 'async', flavor: 'last-resort' } as const

/** Returns V8's `gc` function, which only contexts have that are created after the flag is set. */
export function exposeCollection(): () => Promise<void> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: typeof collectAll) => Promise<void>
  return () => collect(collectAll)
}
