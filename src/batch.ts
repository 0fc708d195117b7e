export interface BatchOptions<Item, Result> {
  /** Does the work of all items in one statement, and answers in their order. */
  run: (items: readonly Item[]) => Promise<readonly Result[]>
  maxItems: number
  /** Batches under way at once. */
  maxInFlight: number
  /** Whether an error can be the fault of a single item; any other is everybody's at once. */
  canBeOneItem: (error: unknown) => boolean
}

interface Call<Item, Result> {
  item: Item
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

/**
 * Joins concurrent calls into one statement. While a batch may leave, a call leaves as soon as what came
 * in with it has been read, so a lone call never waits; otherwise it leaves with all that came meanwhile
 * when a batch returns. An item that fails takes nobody with it: its batch is halved and run again until
 * it stands alone, so `run` must leave nothing behind when it fails. A signal takes back a call that has
 * not left yet.
 */
export function joinCalls<Item, Result>(
  options: BatchOptions<Item, Result>,
): (item: Item, signal?: AbortSignal) => Promise<Result> {
  const waiting: Call<Item, Result>[] = []
  let inFlight = 0
  let leaving = false

  /** Whether the last batch held a single call: the next one is not worth waiting for company either. */
  let quiet = true

  // Under load not before the sockets that were readable with this call's have been read: a microtask
  // later its neighbours would not have come yet, and it would leave alone.
  function leaveSoon(): void {
    if (leaving || inFlight >= options.maxInFlight) return
    leaving = true
    const soon = quiet && inFlight === 0 ? queueMicrotask : setImmediate
    soon(() => {
      leaving = false
      leave()
    })
  }

  function leave(): void {
    while (inFlight < options.maxInFlight && waiting.length > 0) {
      const calls = waiting.splice(0, options.maxItems)
      quiet = calls.length === 1
      inFlight += 1
      void runForEach(options, calls).then(() => {
        inFlight -= 1
        if (waiting.length > 0) leaveSoon()
      })
    }
  }

  return (item, signal) => {
    if (signal?.aborted) return Promise.reject(signal.reason)
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const call = { item, resolve, reject }
    waiting.push(call)
    leaveSoon()
    return signal ? takenBackBy(signal, call, promise) : promise
  }

  async function takenBackBy(signal: AbortSignal, call: Call<Item, Result>, result: Promise<Result>): Promise<Result> {
    const takeBack = () => {
      const place = waiting.indexOf(call)
      if (place !== -1) waiting.splice(place, 1)
      call.reject(signal.reason)
    }
    signal.addEventListener('abort', takeBack, { once: true })
    try {
      return await result
    } finally {
      signal.removeEventListener('abort', takeBack)
    }
  }
}

/** Never rejects: each call hears of its own end. */
async function runForEach<Item, Result>(
  options: BatchOptions<Item, Result>,
  calls: readonly Call<Item, Result>[],
): Promise<void> {
  try {
    const results = await options.run(calls.map((call) => call.item))
    if (results.length !== calls.length) throw new BatchSizeError(calls.length, results.length)
    // The length was compared: every call has its result.
    for (const [index, call] of calls.entries()) call.resolve(results[index] as Result)
  } catch (error) {
    if (calls.length === 1 || error instanceof BatchSizeError || !options.canBeOneItem(error)) {
      for (const call of calls) call.reject(error)
      return
    }
    const half = Math.ceil(calls.length / 2)
    await runForEach(options, calls.slice(0, half))
    await runForEach(options, calls.slice(half))
  }
}

class BatchSizeError extends Error {
  constructor(items: number, results: number) {
    super(`a batch of ${items} was answered with ${results} results`)
    this.name = 'BatchSizeError'
  }
}
