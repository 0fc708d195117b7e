export interface BatchOptions<Item, Result> {
  /** Does the work of all items in one statement, and answers in their order. */
  run: (items: readonly Item[]) => Promise<readonly Result[]>
  maxItems: number
  /** Batches under way at once. */
  maxInFlight: number
  /** Whether an error can be the fault of a single item; any other is everybody's at once. */
  isItemError: (error: unknown) => boolean
  /** A call that has not started by then is rejected with a `NotStartedError`, and never runs. */
  maxWaitMilliseconds?: number
  /** Whose item it is. Items of one group may wait for the same lock, those of two groups never do. */
  groupOf?: (item: Item) => string
  /** Whether a batch failed because it waited for somebody else, as for a lock. It needs `groupOf`. */
  isBlocked?: (error: unknown) => boolean
}

/** The call was given up before it started: nothing of it happened, and nothing will. */
export class NotStartedError extends Error {
  constructor(waitedFor: string) {
    super(`gave up waiting for ${waitedFor}`)
    this.name = 'NotStartedError'
  }
}

interface Call<Item, Result> {
  item: Item
  /** By `performance.now()`. Without end until the call is found waiting: most leave at once. */
  startBefore: number
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

/** Isolated groups that run at once: one that still blocks leaves room for another. */
const maxIsolatedInFlight = 2

/**
 * Joins concurrent calls into one statement. While a batch may leave, a call leaves as soon as what came
 * in with it has been read, so a lone call never waits; otherwise it leaves with all that came meanwhile
 * when a batch returns. An item that fails takes nobody with it: its batch is halved and run again until
 * it stands alone, so `run` must leave nothing behind when it fails. A signal takes back a call that has
 * not left yet.
 *
 * When a batch of several groups is blocked, each of them is isolated: it runs alone, beside the batches,
 * until it has not been blocked. So a group that stays blocked delays the others once, and not again.
 */
export function createBatcher<Item, Result>(
  options: BatchOptions<Item, Result>,
): (item: Item, signal?: AbortSignal) => Promise<Result> {
  const { groupOf, maxWaitMilliseconds = Infinity } = options
  const waiting: Call<Item, Result>[] = []
  /** The waiting calls of each isolated group. */
  const isolated = new Map<string, Call<Item, Result>[]>()
  const isolatedInFlight = new Set<string>()
  let inFlight = 0
  let leaving = false
  let expiry: NodeJS.Timeout | undefined

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
      void runBatch(options, calls, isolate).then(() => {
        inFlight -= 1
        if (waiting.length > 0) leaveSoon()
      })
    }
  }

  /** The calls of a blocked batch: a group that was alone in it has had its turn, others get one of their own. */
  function isolate(calls: readonly Call<Item, Result>[], error: unknown): void {
    const groups = groupCalls(calls, groupOf)
    for (const [group, ofGroup] of groups) {
      const others = isolated.get(group) ?? []
      isolated.set(group, others)
      if (groups.size === 1) rejectAll(ofGroup, error)
      else for (const call of ofGroup) others.push(Object.assign(call, { startBefore: startBefore() }))
    }
    leaveIsolated()
  }

  function leaveIsolated(): void {
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
    const others = isolated.get(group) ?? []
    isolated.delete(group)
    // Behind the other groups: each has its turn.
    if (blocked) isolated.set(group, others)
    else waiting.push(...others)
    leaveIsolated()
    if (waiting.length > 0) leaveSoon()
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

  return (item, signal) => {
    if (signal?.aborted) return Promise.reject(signal.reason)
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const call = { item, startBefore: startBefore(), resolve, reject }
    const queue = (isolated.size > 0 && isolated.get(groupOf?.(item) ?? '')) || waiting
    queue.push(call)
    if (!expiry && maxWaitMilliseconds < Infinity) expireLater(maxWaitMilliseconds)
    if (queue === waiting) leaveSoon()
    else leaveIsolated()
    return signal ? withAbort(signal, call, promise) : promise
  }

  async function withAbort(signal: AbortSignal, call: Call<Item, Result>, result: Promise<Result>): Promise<Result> {
    const takeBack = () => {
      for (const queue of [waiting, ...isolated.values()]) {
        const place = queue.indexOf(call)
        if (place !== -1) queue.splice(place, 1)
      }
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

/** Never rejects: each call is settled by itself, or goes to `blocked`. */
async function runBatch<Item, Result>(
  options: BatchOptions<Item, Result>,
  calls: readonly Call<Item, Result>[],
  blocked: (calls: readonly Call<Item, Result>[], error: unknown) => void,
): Promise<void> {
  try {
    const results = await options.run(calls.map((call) => call.item))
    if (results.length !== calls.length) throw new BatchSizeError(calls.length, results.length)
    // The length was compared: every call has its result.
    for (const [index, call] of calls.entries()) call.resolve(results[index] as Result)
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
    super(`a batch of ${items} was answered with ${results} results`)
    this.name = 'BatchSizeError'
  }
}

/** Questions of one batch that are alike: the statement is asked one of them, and its answer is everybody's. */
export interface Deduped<Question> {
  question: Question
  /** Where they stand in the batch, in its order. */
  places: number[]
}

/** A customer who sends much asks the same again and again: with the same key, from the same address, for one template. */
export function dedupeByKey<Question>(
  questions: readonly Question[],
  keyOf: (question: Question) => string,
): Deduped<Question>[] {
  const groups = new Map<string, Deduped<Question>>()
  for (const [place, question] of questions.entries()) {
    const key = keyOf(question)
    const group = groups.get(key)
    if (group) group.places.push(place)
    else groups.set(key, { question, places: [place] })
  }
  return [...groups.values()]
}
