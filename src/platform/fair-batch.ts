export interface FairBatchOptions<Item, Result> {
  /**
   * Processes all parts together and returns one result per part, in order. A failed run must leave no effects.
   */
  run: (parts: readonly (readonly Item[])[]) => Promise<readonly Result[]>
  /** Combines the results of a call's parts into its result. */
  sum: (results: readonly Result[]) => Result
  /** Upper bound for the items of a batch, over all calls; `minItems` is the bound while batches take too long. */
  maxItems: number
  minItems: number
  /** A batch that takes longer makes the following ones smaller, because other calls wait for it. */
  maxMilliseconds: number
  now: () => number
  /** Maximum number of items that a key adds to a batch while other keys wait. */
  share: number
  /** Maximum number of concurrent batches. */
  maxInFlight: number
  /** How to split a failed batch before it is retried, because one of its parts may be the cause. */
  retry: (error: unknown) => 'halves' | 'keys' | 'none'
}

interface Call<Item, Result> {
  key: string
  items: readonly Item[]
  /** Number of items that are done or in a running batch. */
  taken: number
  results: Result[]
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

interface Part<Item, Result> {
  call: Call<Item, Result>
  items: readonly Item[]
}

/**
 * Runs the items of concurrent calls in batches of bounded size. Keys take turns, so a key with many items delays the
 * others by at most its share of a batch. A call can be spread over several batches; its parts run one after another,
 * so its items are processed in order.
 */
export function createFairBatcher<Item, Result>(
  options: FairBatchOptions<Item, Result>,
): (key: string, items: readonly Item[]) => Promise<Result> {
  // A Map keeps insertion order: its first key has the next turn.
  const waiting = new Map<string, Call<Item, Result>[]>()
  let inFlight = 0
  let starting = false
  /** True if the last batch held a single call; then the next call does not wait for others. */
  let wasSingle = true
  let size = options.maxItems

  // As in batch.ts: under load, wait until all readable sockets have been read.
  function startSoon(): void {
    if (starting || inFlight >= options.maxInFlight || waiting.size === 0) return
    starting = true
    const soon = wasSingle && inFlight === 0 ? queueMicrotask : setImmediate
    soon(() => {
      starting = false
      while (inFlight < options.maxInFlight && waiting.size > 0) start()
    })
  }

  function start(): void {
    const parts = takeParts(waiting, { maxItems: size, share: options.share })
    const startedAt = options.now()
    wasSingle = parts.length === 1
    inFlight += 1
    void runParts(options, parts).then((outcomes) => {
      inFlight -= 1
      size = nextSize(options, size, options.now() - startedAt)
      for (const [index, { call }] of parts.entries()) finish(call, outcomes[index])
      startSoon()
    })
  }

  function finish(call: Call<Item, Result>, outcome: PromiseSettledResult<Result> | undefined): void {
    if (outcome?.status !== 'fulfilled') return call.reject(outcome?.reason)
    call.results.push(outcome.value)
    if (call.taken === call.items.length) return call.resolve(options.sum(call.results))
    const queue = waiting.get(call.key)
    if (queue) queue.unshift(call)
    else waiting.set(call.key, [call])
  }

  return (key, items) => {
    if (items.length === 0) return Promise.resolve(options.sum([]))
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const call: Call<Item, Result> = { key, items, taken: 0, results: [], resolve, reject }
    const queue = waiting.get(key)
    if (queue) queue.push(call)
    else waiting.set(key, [call])
    startSoon()
    return promise
  }
}

/** Returns the next batch size. It changes only outside the target range, so that it does not oscillate. */
function nextSize<Item, Result>(
  { minItems, maxItems, maxMilliseconds }: FairBatchOptions<Item, Result>,
  size: number,
  milliseconds: number,
): number {
  if (milliseconds > maxMilliseconds) return Math.max(minItems, Math.floor(size / 2))
  return milliseconds < maxMilliseconds / 2 ? Math.min(maxItems, size * 2) : size
}

/**
 * Takes the items of the next batch: each key adds its share until the batch is full. A single key fills the batch
 * alone. With several keys, items beyond a key's share are not used to fill the batch, because the others would wait
 * for them.
 */
function takeParts<Item, Result>(
  waiting: Map<string, Call<Item, Result>[]>,
  { maxItems, share }: Pick<FairBatchOptions<Item, Result>, 'maxItems' | 'share'>,
): Part<Item, Result>[] {
  const starts = new Map<Call<Item, Result>, number>()
  const maxPerKey = waiting.size === 1 ? maxItems : share
  let capacity = maxItems
  // Iterates over a copy, because the loop puts keys back.
  for (const [key, calls] of Array.from(waiting)) {
    let left = Math.min(maxPerKey, capacity)
    // Moves the key to the end, so that keys that did not fit come first in the next batch.
    waiting.delete(key)
    while (left > 0) {
      const [call] = calls
      if (!call) break
      if (!starts.has(call)) starts.set(call, call.taken)
      const count = Math.min(left, call.items.length - call.taken)
      call.taken += count
      left -= count
      capacity -= count
      if (call.taken === call.items.length) calls.shift()
    }
    if (calls.length > 0) waiting.set(key, calls)
    if (capacity === 0) break
  }
  // The rest of a call waits for its running part; `finish` puts it back.
  for (const [key, calls] of waiting) {
    if (!calls[0] || !starts.has(calls[0])) continue
    calls.shift()
    if (calls.length === 0) waiting.delete(key)
  }
  return [...starts].map(([call, start]) => ({ call, items: call.items.slice(start, call.taken) }))
}

/** Never rejects. A failing part does not fail the others, unless the error concerns the whole batch. */
async function runParts<Item, Result>(
  options: FairBatchOptions<Item, Result>,
  parts: readonly Part<Item, Result>[],
): Promise<PromiseSettledResult<Result>[]> {
  try {
    const results = await options.run(parts.map(({ items }) => items))
    if (results.length !== parts.length) throw new Error(`${parts.length} parts had ${results.length} results`)
    return results.map((value) => ({ status: 'fulfilled', value }))
  } catch (error) {
    const groups = split(parts, options.retry(error))
    if (groups.length < 2) return parts.map(() => ({ status: 'rejected', reason: error }))
    const outcomes = new Map<Part<Item, Result>, PromiseSettledResult<Result>>()
    for (const group of groups)
      for (const [index, outcome] of (await runParts(options, group)).entries()) {
        const part = group[index]
        if (part) outcomes.set(part, outcome)
      }
    return parts.map((part) => outcomes.get(part) ?? { status: 'rejected', reason: error })
  }
}

function split<Item, Result>(
  parts: readonly Part<Item, Result>[],
  retry: 'halves' | 'keys' | 'none',
): readonly (readonly Part<Item, Result>[])[] {
  switch (retry) {
    case 'none':
      return []
    case 'keys':
      return [...Map.groupBy(parts, ({ call }) => call.key).values()]
    case 'halves': {
      const half = Math.ceil(parts.length / 2)
      return parts.length < 2 ? [] : [parts.slice(0, half), parts.slice(half)]
    }
  }
}
