/**
 * Limits how many large callbacks are processed concurrently, since parsing one takes much memory. Apps take turns, so
 * that the callbacks of one app do not delay those of another.
 */
export interface CallbackLimiter {
  /** Returns undefined, without running `work`, if too many bytes are held already. */
  run<Result>(app: string, bytes: number, work: () => Promise<Result>): Promise<Result> | undefined
}

export interface CallbackLimits {
  /** Callbacks of up to this size do not wait for a turn. */
  smallBytes: number
  maxConcurrent: number
  /** Below `maxConcurrent`, so that one app cannot hold every turn. */
  maxConcurrentOfApp: number
  /** Bytes that are waiting or being processed, in total and per app. */
  maxBytes: number
  maxBytesOfApp: number
}

/** Small callbacks are all parsed at once, and what was parsed takes more memory than the body. */
const memoryPerByte = 4

export function createCallbackLimiter(limits: CallbackLimits): CallbackLimiter {
  // A Map keeps insertion order, so the first app below its limit has the next turn.
  const waiting = new Map<string, (() => void)[]>()
  const [bytesOf, runningOf] = [new Map<string, number>(), new Map<string, number>()]
  let [running, held] = [0, 0]

  function startNext(): void {
    if (running >= limits.maxConcurrent) return
    for (const [app, starts] of waiting) {
      if ((runningOf.get(app) ?? 0) >= limits.maxConcurrentOfApp) continue
      const start = starts.shift()
      waiting.delete(app)
      if (starts.length > 0) waiting.set(app, starts)
      countRunning(app, 1)
      start?.()
      return
    }
  }

  function countRunning(app: string, change: 1 | -1): void {
    running += change
    add(runningOf, app, change)
  }

  function countBytes(app: string, bytes: number): void {
    held += bytes
    add(bytesOf, app, bytes)
  }

  async function runWhenAdmitted<Result>(app: string, work: () => Promise<Result>): Promise<Result> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const starts = waiting.get(app)
    if (starts) starts.push(resolve)
    else waiting.set(app, [resolve])
    startNext()
    await promise
    try {
      return await work()
    } finally {
      countRunning(app, -1)
      startNext()
    }
  }

  return {
    run: (app, bytes, work) => {
      const isSmall = bytes <= limits.smallBytes
      const counted = isSmall ? bytes * memoryPerByte : bytes
      if (held + counted > limits.maxBytes || (bytesOf.get(app) ?? 0) + counted > limits.maxBytesOfApp) return undefined
      countBytes(app, counted)
      return (isSmall ? work() : runWhenAdmitted(app, work)).finally(() => countBytes(app, -counted))
    },
  }
}

/** Deletes a count of zero, so that the map does not grow with every app ever seen. */
function add(counts: Map<string, number>, app: string, change: number): void {
  const count = (counts.get(app) ?? 0) + change
  if (count === 0) counts.delete(app)
  else counts.set(app, count)
}
