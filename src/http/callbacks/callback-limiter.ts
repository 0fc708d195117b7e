/**
 * Limits how many large callbacks are processed concurrently, since parsing one takes much memory. Accounts take turns, so
 * that the callbacks of one account do not delay those of another.
 */
export interface CallbackLimiter {
  /** Returns undefined, without running `work`, if too many bytes are held already. */
  run<Result>(accountId: string, bytes: number, work: () => Promise<Result>): Promise<Result> | undefined
}

export interface CallbackLimits {
  /** Callbacks of up to this size do not wait for a turn. */
  smallBytes: number
  maxConcurrent: number
  /** Below `maxConcurrent`, so that one account cannot hold every turn. */
  maxConcurrentOfAccount: number
  /** Bytes that are waiting or being processed, in total and per account. */
  maxBytes: number
  maxBytesOfAccount: number
}

/** Small callbacks are all parsed at once, and what was parsed takes more memory than the body. */
const memoryPerByte = 4

export function createCallbackLimiter(limits: CallbackLimits): CallbackLimiter {
  // A Map keeps insertion order, so the first account below its limit has the next turn.
  const waiting = new Map<string, (() => void)[]>()
  const [bytesOf, runningOf] = [new Map<string, number>(), new Map<string, number>()]
  let [running, held] = [0, 0]

  function startNext(): void {
    if (running >= limits.maxConcurrent) return
    for (const [accountId, starts] of waiting) {
      if ((runningOf.get(accountId) ?? 0) >= limits.maxConcurrentOfAccount) continue
      const start = starts.shift()
      waiting.delete(accountId)
      if (starts.length > 0) waiting.set(accountId, starts)
      countRunning(accountId, 1)
      start?.()
      return
    }
  }

  function countRunning(accountId: string, change: 1 | -1): void {
    running += change
    add(runningOf, accountId, change)
  }

  function countBytes(accountId: string, bytes: number): void {
    held += bytes
    add(bytesOf, accountId, bytes)
  }

  async function runWhenAdmitted<Result>(accountId: string, work: () => Promise<Result>): Promise<Result> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const starts = waiting.get(accountId)
    if (starts) starts.push(resolve)
    else waiting.set(accountId, [resolve])
    startNext()
    await promise
    try {
      return await work()
    } finally {
      countRunning(accountId, -1)
      startNext()
    }
  }

  return {
    run: (accountId, bytes, work) => {
      const isSmall = bytes <= limits.smallBytes
      const counted = isSmall ? bytes * memoryPerByte : bytes
      if (held + counted > limits.maxBytes || (bytesOf.get(accountId) ?? 0) + counted > limits.maxBytesOfAccount)
        return undefined
      countBytes(accountId, counted)
      return (isSmall ? work() : runWhenAdmitted(accountId, work)).finally(() => countBytes(accountId, -counted))
    },
  }
}

/** Deletes a count of zero, so that the map does not grow with every account ever seen. */
function add(counts: Map<string, number>, accountId: string, change: number): void {
  const count = (counts.get(accountId) ?? 0) + change
  if (count === 0) counts.delete(accountId)
  else counts.set(accountId, count)
}
