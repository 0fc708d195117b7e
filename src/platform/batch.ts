export interface BatchOptions<Item, Result> {
  /** Runs all items in one statement and returns their results in order. */
  run: (items: readonly Item[]) => Promise<readonly Result[]>
  maxItems: number
  /** Maximum number of concurrent batches. */
  maxInFlight: number
  /** Returns whether a single item can have caused the error. Any other error rejects the whole batch at once. */
  isItemError: (error: unknown) => boolean
  /** A call that has not started after this time is rejected with a `NotStartedError` and never runs. */
  maxWaitMilliseconds?: number
  /**
   * Returns the group of an item. Items of one group may wait for the same lock; items of different groups never do.
   */
  groupOf?: (item: Item) => string
  /** Returns whether a batch failed because it waited for a lock. Requires `groupOf`. */
  isBlocked?: (error: unknown) => boolean
}

/** The call was rejected before it started. It had no effect and will have none. */
export class NotStartedError extends Error {
  constructor(waitedFor: string) {
    super(`timed out waiting for ${waitedFor}`)
    this.name = 'NotStartedError'
  }
}

interface Call<Item, Result> {
  item: Item
  /** Deadline by `performance.now()`. */
  startBefore: number
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

/** Isolated groups that run concurrently: if one stays blocked, another can still run. */
const maxIsolatedInFlight = 2

/**
 * Combines concurrent calls into one statement. While a batch slot is free, a call starts as soon as the requests that
 * arrived with it have been read, so a single call never waits. Otherwise it starts with all calls that arrived in the
 * meantime, when a batch ends. A failing item does not fail the others: its batch is bisected until the item is alone,
 * so a failed `run` must leave no effects.
 *
 * If a batch of several groups is blocked, each of its groups is isolated: it runs alone, beside the batches, until it
 * is no longer blocked. So a blocked group delays the others only once.
 */
export function createBatcher<Item, Result>(options: BatchOptions<Item, Result>): (item: Item) => Promise<Result> {
  const { groupOf, maxWaitMilliseconds = Infinity } = options
  const waiting: Call<Item, Result>[] = []
  /** The waiting calls of each isolated group. */
  const isolated = new Map<string, Call<Item, Result>[]>()
  const isolatedInFlight = new Set<string>()
  let inFlight = 0
  let starting = false
  let expiry: NodeJS.Timeout | undefined

  /** True if the last batch held a single call; then the next call does not wait for others. */
  let wasSingle = true

  // Under load, `setImmediate` waits until all readable sockets have been read. A microtask would run before the calls
  // of the other sockets arrive, and each call would run alone.
  function startSoon(): void {
    if (starting || inFlight >= options.maxInFlight) return
    starting = true
    const soon = wasSingle && inFlight === 0 ? queueMicrotask : setImmediate
    soon(() => {
      starting = false
      start()
    })
  }

  function start(): void {
    while (inFlight < options.maxInFlight && waiting.length > 0) {
      const calls = waiting.splice(0, options.maxItems)
      wasSingle = calls.length === 1
      inFlight += 1
      void runBatch(options, calls, isolate).then(() => {
        inFlight -= 1
        if (waiting.length > 0) startSoon()
      })
    }
  }

  /**
   * Isolates the groups of a blocked batch. A group that was alone in its batch is rejected; the others run separately.
   */
  function isolate(calls: readonly Call<Item, Result>[], error: unknown): void {
    const groups = groupCalls(calls, groupOf)
    for (const [group, ofGroup] of groups) {
      const queue = isolated.get(group) ?? []
      isolated.set(group, queue)
      if (groups.size === 1) rejectAll(ofGroup, error)
      else for (const call of ofGroup) queue.push(Object.assign(call, { startBefore: startBefore() }))
    }
    startIsolated()
  }

  function startIsolated(): void {
    for (const [group, calls] of isolated) {
      if (isolatedInFlight.size >= maxIsolatedInFlight) return
      if (calls.length > 0 && !isolatedInFlight.has(group)) void runIsolated(group, calls.splice(0, options.maxItems))
    }
  }

  async function runIsolated(group: string, calls: readonly Call<Item, Result>[]): Promise<void> {
    isolatedInFlight.add(group)
    let blocked = false
    await runBatch(options, calls, (stillBlocked, error) => {
      blocked = true
      rejectAll(stillBlocked, error)
    })
    isolatedInFlight.delete(group)
    const queue = isolated.get(group) ?? []
    isolated.delete(group)
    // Moves a blocked group behind the others, so that each has its turn.
    if (blocked) isolated.set(group, queue)
    else waiting.push(...queue)
    startIsolated()
    if (waiting.length > 0) startSoon()
  }

  function startBefore(): number {
    return performance.now() + maxWaitMilliseconds
  }

  function expireLater(milliseconds: number): void {
    expiry = setTimeout(expire, milliseconds).unref()
  }

  function expire(): void {
    expiry = undefined
    const now = performance.now()
    let next = Infinity
    for (const queue of [waiting, ...isolated.values()]) {
      const kept = queue.filter((call) => call.startBefore > now)
      for (const call of queue) if (call.startBefore <= now) call.reject(new NotStartedError('earlier calls to end'))
      queue.splice(0, queue.length, ...kept)
      for (const call of kept) next = Math.min(next, call.startBefore)
    }
    if (next < Infinity) expireLater(next - now)
  }

  let resolve: Call<Item, Result>['resolve']
  let reject: Call<Item, Result>['reject']
  // Created once: a send makes four calls, and a closure for each would take 400 bytes.
  const capture = (onResult: typeof resolve, onError: typeof reject) => {
    resolve = onResult
    reject = onError
  }

  return (item) => {
    const result = new Promise<Result>(capture)
    const queue = (isolated.size > 0 && isolated.get(groupOf?.(item) ?? '')) || waiting
    queue.push({ item, startBefore: startBefore(), resolve, reject })
    if (!expiry && maxWaitMilliseconds < Infinity) expireLater(maxWaitMilliseconds)
    if (queue === waiting) startSoon()
    else startIsolated()
    return result
  }
}

/** Never rejects: it settles each call, or passes the calls to `blocked`. */
async function runBatch<Item, Result>(
  options: BatchOptions<Item, Result>,
  calls: readonly Call<Item, Result>[],
  blocked: (calls: readonly Call<Item, Result>[], error: unknown) => void,
): Promise<void> {
  try {
    const results = await options.run(calls.map((call) => call.item))
    if (results.length !== calls.length) throw new BatchSizeError(calls.length, results.length)
    // The lengths are equal, so every call has a result.
    calls.forEach((call, index) => call.resolve(results[index] as Result))
  } catch (error) {
    if (options.groupOf && options.isBlocked?.(error)) return blocked(calls, error)
    if (calls.length === 1 || error instanceof BatchSizeError || !options.isItemError(error))
      return rejectAll(calls, error)
    const half = Math.ceil(calls.length / 2)
    await runBatch(options, calls.slice(0, half), blocked)
    await runBatch(options, calls.slice(half), blocked)
  }
}

function rejectAll(calls: readonly Call<unknown, never>[], error: unknown): void {
  for (const call of calls) call.reject(error)
}

function groupCalls<Item, Result>(
  calls: readonly Call<Item, Result>[],
  groupOf: BatchOptions<Item, Result>['groupOf'],
): Map<string, Call<Item, Result>[]> {
  const groups = new Map<string, Call<Item, Result>[]>()
  for (const call of calls) {
    const group = groupOf?.(call.item) ?? ''
    const ofGroup = groups.get(group)
    if (ofGroup) ofGroup.push(call)
    else groups.set(group, [call])
  }
  return groups
}

class BatchSizeError extends Error {
  constructor(items: number, results: number) {
    super(`a batch of ${items} items returned ${results} results`)
    this.name = 'BatchSizeError'
  }
}

/** Equal items of one batch. The statement runs once for them, and all of them get its result. */
export interface Deduped<Item> {
  item: Item
  /** Indexes of the items in the batch, in ascending order. */
  indexes: number[]
}

/** Merges items with the same key. Frequent senders repeat the same lookups: the same API key, address or template. */
export function dedupeByKey<Item>(items: readonly Item[], keyOf: (item: Item) => string): Deduped<Item>[] {
  const groups = new Map<string, Deduped<Item>>()
  items.forEach((item, index) => {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.indexes.push(index)
    else groups.set(key, { item, indexes: [index] })
  })
  return [...groups.values()]
}
