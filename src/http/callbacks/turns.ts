/**
 * Lets few large callbacks be worked on at once, since each takes much memory while it is read. Apps take turns, so
 * that the callbacks of one do not hold up those of another.
 */
export interface CallbackTurns {
  /** Undefined, without having run it, when too much waits already. */
  run<Result>(app: string, bytes: number, work: () => Promise<Result>): Promise<Result> | undefined
}

export interface TurnLimits {
  /** Callbacks of at most so many bytes do not wait for a turn. */
  smallBytes: number
  maxAtOnce: number
  /** That wait or are worked on, in all and of one app. */
  maxBytes: number
  maxBytesOfApp: number
}

export function createCallbackTurns(limits: TurnLimits): CallbackTurns {
  // A Map keeps the order of insertion: the first app is next in turn.
  const waiting = new Map<string, (() => void)[]>()
  const bytesOf = new Map<string, number>()
  let [atWork, held] = [0, 0]

  function startNext(): void {
    const [next] = waiting
    if (!next || atWork >= limits.maxAtOnce) return
    const [app, starts] = next
    const start = starts.shift()
    waiting.delete(app)
    if (starts.length > 0) waiting.set(app, starts)
    atWork++
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
      atWork--
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
