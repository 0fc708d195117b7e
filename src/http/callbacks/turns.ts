/**
 * Limits how many large callbacks are processed concurrently, since parsing one takes much memory. Apps take turns, so
 * that the callbacks of one app do not delay those of another.
 */
export interface CallbackTurns {
  /** Returns undefined, without running `work`, if too many bytes are waiting already. */
  run<Result>(app: string, bytes: number, work: () => Promise<Result>): Promise<Result> | undefined
}

export interface TurnLimits {
  /** Callbacks of up to this size do not wait for a turn. */
  smallBytes: number
  maxConcurrent: number
  /** Bytes that are waiting or being processed, in total and per app. */
  maxBytes: number
  maxBytesOfApp: number
}

export function createCallbackTurns(limits: TurnLimits): CallbackTurns {
  // A Map keeps insertion order: its first app has the next turn.
  const waiting = new Map<string, (() => void)[]>()
  const bytesOf = new Map<string, number>()
  let [running, held] = [0, 0]

  function startNext(): void {
    const [next] = waiting
    if (!next || running >= limits.maxConcurrent) return
    const [app, starts] = next
    const start = starts.shift()
    waiting.delete(app)
    if (starts.length > 0) waiting.set(app, starts)
    running++
    start?.()
  }

  function count(app: string, bytes: number): void {
    held += bytes
    const ofApp = (bytesOf.get(app) ?? 0) + bytes
    if (ofApp === 0) bytesOf.delete(app)
    else bytesOf.set(app, ofApp)
  }

  async function runInTurn<Result>(app: string, work: () => Promise<Result>): Promise<Result> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const starts = waiting.get(app)
    if (starts) starts.push(resolve)
    else waiting.set(app, [resolve])
    startNext()
    await promise
    try {
      return await work()
    } finally {
      running--
      startNext()
    }
  }

  return {
    run: (app, bytes, work) => {
      if (bytes <= limits.smallBytes) return work()
      if (held + bytes > limits.maxBytes || (bytesOf.get(app) ?? 0) + bytes > limits.maxBytesOfApp) return undefined
      count(app, bytes)
      return runInTurn(app, work).finally(() => count(app, -bytes))
    },
  }
}
