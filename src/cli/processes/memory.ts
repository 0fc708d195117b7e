import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { definedOnly } from './start-limits.ts'

/** Values of `--memory`. With `large`, a server process uses more memory for higher throughput. */
export const memorySizes = ['normal', 'large'] as const

/**
 * With a young generation of this size, less garbage survives until it is collected, and collecting takes less time. V8
 * keeps up to three times as much, and reads both flags from the command line only.
 */
export const largeMemoryFlags = ['--min-semi-space-size=32', '--max-semi-space-size=32']

export function hasLargeMemory(): boolean {
  return largeMemoryFlags.every((flag) => process.execArgv.includes(flag))
}

/** Restarts the command with a large young generation: in this process where `execve` exists, otherwise in a child. */
export async function restartWithLargeMemory(): Promise<number> {
  const args = [...process.execArgv, ...largeMemoryFlags, ...process.argv.slice(1)]
  if (process.execve) process.execve(process.execPath, [process.execPath, ...args], definedOnly(process.env))
  const child = spawn(process.execPath, args, { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  await once(child, 'exit')
  return child.exitCode ?? 1
}

const intervalMilliseconds = 1_000
/** Shares of an interval in which the event loop was busy. */
const busy = 0.5
const idle = 0.1
/**
 * Idle intervals before a collection. After a burst they are many, because a collection also drops code that was compiled
 * for requests: the next burst takes up to twice the CPU time until it is compiled again.
 */
export const idleIntervals = { afterStart: 3, afterBurst: 30 }

export interface IdleCollection {
  /** Number of consecutive idle intervals. */
  idleFor: number
  /** The number after which garbage is collected; infinite if the process was not busy since the last collection. */
  collectAfter: number
}

/** Takes the utilization of an interval into account. Garbage is collected when `idleFor` reaches `collectAfter`. */
export function observe({ idleFor, collectAfter }: IdleCollection, utilization: number): IdleCollection {
  const remaining = idleFor < collectAfter ? collectAfter : Infinity
  if (utilization > idle) return { idleFor: 0, collectAfter: utilization > busy ? idleIntervals.afterBurst : remaining }
  return { idleFor: idleFor + 1, collectAfter: remaining }
}

/**
 * Collects garbage once a server is idle after its start, and after each burst of requests. V8 collects only when the
 * heap grows, so an idle server would keep the memory of the last burst.
 */
export function collectWhenIdle(): void {
  const collect = exposeCollection()
  let before = performance.eventLoopUtilization()
  let state: IdleCollection = { idleFor: 0, collectAfter: idleIntervals.afterStart }
  const look = () => {
    const elapsed = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(elapsed, before)
    before = elapsed
    state = observe(state, utilization)
    if (state.idleFor === state.collectAfter) void collect()
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
