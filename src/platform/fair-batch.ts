export interface FairBatchOptions<Item, Result> {
  /** Does the work of all parts at once, and answers in their order. Leaves nothing behind when it fails. */
  run: (parts: readonly (readonly Item[])[]) => Promise<readonly Result[]>
  /** The result of a call, from those of its parts. */
  sum: (results: readonly Result[]) => Result
  /** Items of a batch, whatever number of calls they belong to: at most, and while batches take too long. */
  maxItems: number
  minItems: number
  /** A batch that takes longer makes the following ones smaller; others wait for it. */
  maxMilliseconds: number
  now: () => number
  /** Items that a key adds to a batch in its turn, while others wait. */
  share: number
  /** Batches under way at once. */
  maxInFlight: number
  /** Which parts of a failed batch to run again by themselves: one of them can be the cause. */
  retry: (error: unknown) => 'halves' | 'keys' | 'none'
}

interface Call<Item, Result> {
  key: string
  items: readonly Item[]
  /** Items that are done or in a batch under way. */
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
 * Runs the items of concurrent calls in batches that are bounded by their number of items, and takes the keys
 * in turn: a key with much to do delays the others by its share of a batch. A call can be spread over several
 * batches. Its parts never run at the same time, so its items are done in their order.
 */
export function createFairBatcher<Item, Result>(
  options: FairBatchOptions<Item, Result>,
): (key: string, items: readonly Item[]) => Promise<Result> {
  // A Map keeps the order of insertion: the first key is next in turn.
  const waiting = new Map<string, Call<Item, Result>[]>()
  let inFlight = 0
  let leaving = false
  /** Whether the last batch held a single call: the next one need not wait for others either. */
  let quiet = true
  let size = options.maxItems

  // As in batch.ts: under load, not before the sockets that were readable with this one have been read.
  function leaveSoon(): void {
    if (leaving || inFlight >= options.maxInFlight || waiting.size === 0) return
    leaving = true
    const soon = quiet && inFlight === 0 ? queueMicrotask : setImmediate
    soon(() => {
      leaving = false
      while (inFlight < options.maxInFlight && waiting.size > 0) leave()
    })
  }

  function leave(): void {
    const parts = takeParts(waiting, { maxItems: size, share: options.share })
    const begun = options.now()
    quiet = parts.length === 1
    inFlight += 1
    void runParts(options, parts).then((outcomes) => {
      inFlight -= 1
      size = nextSize(options, size, options.now() - begun)
      for (const [index, { call }] of parts.entries()) finish(call, outcomes[index])
      leaveSoon()
    })
  }

  function finish(call: Call<Item, Result>, outcome: PromiseSettledResult<Result> | undefined): void {
    if (outcome?.status !== 'fulfilled') return call.reject(outcome?.reason)
    call.results.push(outcome.value)
    if (call.taken === call.items.length) return call.resolve(options.sum(call.results))
    const others = waiting.get(call.key)
    if (others) others.unshift(call)
    else waiting.set(call.key, [call])
  }

  return (key, items) => {
    if (items.length === 0) return Promise.resolve(options.sum([]))
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const call: Call<Item, Result> = { key, items, taken: 0, results: [], resolve, reject }
    const others = waiting.get(key)
    if (others) others.push(call)
    else waiting.set(key, [call])
    leaveSoon()
    return promise
  }
}

/** Between the bounds of time it stays, so that it does not swing. */
function nextSize<Item, Result>(
  { minItems, maxItems, maxMilliseconds }: FairBatchOptions<Item, Result>,
  size: number,
  took: number,
): number {
  if (took > maxMilliseconds) return Math.max(minItems, Math.floor(size / 2))
  return took < maxMilliseconds / 2 ? Math.min(maxItems, size * 2) : size
}

/**
 * The next batch: each key adds its share, until the batch is full. A single key fills it; the batch is not filled
 * up with what one of several keys has beyond its share, since the others would wait for that too.
 */
function takeParts<Item, Result>(
  waiting: Map<string, Call<Item, Result>[]>,
  { maxItems, share }: Pick<FairBatchOptions<Item, Result>, 'maxItems' | 'share'>,
): Part<Item, Result>[] {
  const starts = new Map<Call<Item, Result>, number>()
  const ofEach = waiting.size === 1 ? maxItems : share
  let room = maxItems
  // A copy: keys are put back while it is read.
  for (const [key, calls] of Array.from(waiting)) {
    let left = Math.min(ofEach, room)
    // Back to the end: in the next batch, those that found no room here come first.
    waiting.delete(key)
    while (left > 0) {
      const [call] = calls
      if (!call) break
      if (!starts.has(call)) starts.set(call, call.taken)
      const count = Math.min(left, call.items.length - call.taken)
      call.taken += count
      left -= count
      room -= count
      if (call.taken === call.items.length) calls.shift()
    }
    if (calls.length > 0) waiting.set(key, calls)
    if (room === 0) break
  }
  // The rest of a call waits for the part that is under way: it comes back in `finish`.
  for (const [key, calls] of waiting) {
    if (!calls[0] || !starts.has(calls[0])) continue
    calls.shift()
    if (calls.length === 0) waiting.delete(key)
  }
  return [...starts].map(([call, start]) => ({ call, items: call.items.slice(start, call.taken) }))
}

/** Never rejects: a part that fails takes no other with it, as far as the error can be of one part. */
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
