import type { Deps } from '../deps.ts'
import { runInLinkedSpan, type TracedItem, withTrace } from '../platform/db/traced.ts'
import { createFairBatcher } from '../platform/fair-batch.ts'
import { isItemError, isLockTimeout } from '../platform/db/errors.ts'

export type ApplyDeps = Pick<Deps, 'db' | 'newId' | 'randomBytes' | 'notifications' | 'secrets' | 'tracing'>

interface BatchedByAccountOptions<Item, Own extends ApplyDeps> {
  /** Names the spans of the batches. */
  name: string
  /** Applies all parts in one transaction and returns the counts of each, in order. */
  run: (deps: Own, parts: readonly (readonly Item[])[]) => Promise<ApplyCounts[]>
}

/** Maximum number of items per transaction. More would lock their messages for too long. */
const maxItems = 1000
/** Transactions shrink while the database is slow or busy. PGlite runs nothing else during a transaction. */
const minItems = 200
const maxMilliseconds = 60
/** Number of items that an account adds to a transaction while other accounts wait. */
const share = 100
/** As in db/batched.ts. */
const maxInFlight = 2

/**
 * Returns a function that applies items of callbacks. When it returns, all of it is durable. Concurrent calls on the
 * same database share a transaction, in which accounts take turns, so that many items of one account do not delay those
 * of others. If it throws, some items may have been applied; `run` must make repeating all of them safe.
 */
export function batchedByAccount<Item extends { accountId: string } & TracedItem, Own extends ApplyDeps = ApplyDeps>({
  name,
  run,
}: BatchedByAccountOptions<Item, Own>): (deps: Own, items: readonly Item[]) => Promise<ApplyCounts> {
  const batchers = new WeakMap<ApplyDeps['db'], ReturnType<typeof createFairBatcher<Item, ApplyCounts>>>()
  /** All calls on the same database have the same dependencies. */
  const batcherOf = (deps: Own) => {
    const known = batchers.get(deps.db)
    if (known) return known
    const batcher = createFairBatcher<Item, ApplyCounts>({
      run: (parts) => runInLinkedSpan(deps.tracing, name, parts, () => run(deps, parts)),
      sum: addUp,
      maxItems,
      minItems,
      maxMilliseconds,
      now: () => performance.now(),
      share,
      maxInFlight,
      retry: chooseRetry,
    })
    batchers.set(deps.db, batcher)
    return batcher
  }
  return (deps, items) => {
    const [first] = items
    if (!first) return Promise.resolve(noCounts())
    const call = batcherOf(deps)
    const traced = withTrace(deps.tracing, items)
    // Nearly all callbacks are about one account.
    if (traced.every(({ accountId }) => accountId === first.accountId)) return call(first.accountId, traced)
    const byAccount = Map.groupBy(traced, ({ accountId }) => accountId)
    return Promise.all(Array.from(byAccount, ([accountId, own]) => call(accountId, own))).then(addUp)
  }
}

/**
 * Invalid data and deadlocks can be caused by one callback, so the batch is bisected. A lock timeout is caused by the
 * messages of one account, so each account is retried separately.
 */
function chooseRetry(error: unknown): 'halves' | 'keys' | 'none' {
  if (isItemError(error)) return 'halves'
  return isLockTimeout(error) ? 'keys' : 'none'
}

/** How many items of a callback had each result. */
export interface ApplyCounts {
  /** Changed something. */
  applied: number
  /** Already known, or too late to change anything. */
  repeated: number
  /** Not about a message of ours. */
  unknown: number
}

export function noCounts(): ApplyCounts {
  return { applied: 0, repeated: 0, unknown: 0 }
}

function addUp(parts: readonly ApplyCounts[]): ApplyCounts {
  const sum = noCounts()
  for (const part of parts) addTo(sum, part)
  return sum
}

export function addTo(sum: ApplyCounts, { applied, repeated, unknown }: ApplyCounts): void {
  sum.applied += applied
  sum.repeated += repeated
  sum.unknown += unknown
}
