import type { Kysely } from 'kysely'
import { createBatcher } from '../batch.ts'
import type { Database } from './schema.ts'
import { isLockTimeout } from './unavailable.ts'

export interface BatchedOptions<Item, Result> {
  /** A lone call: a statement for one is a fifth faster than a batch of one. */
  one: (db: Kysely<Database>, item: Item) => Promise<Result>
  /** All in one statement, answered in their order. */
  many: (db: Kysely<Database>, items: readonly Item[]) => Promise<readonly Result[]>
  /** At once, where an item can mean much work. */
  maxItems?: number
  /** Whose item it is, where one account's locked row must not delay the others of its batch. */
  groupOf?: (item: Item) => string
}

/** Found by measuring: with more batches at once each holds fewer calls, and with one they wait for each other. */
const defaultMaxItems = 128
const maxInFlight = 2
/** A call that could not start by then is answered with SERVICE_UNAVAILABLE, as without a connection. */
const maxWaitMilliseconds = 2_000

/** A store function whose concurrent calls, on the same database, run as one statement. */
export function batched<Item, Result>({
  one,
  many,
  maxItems = defaultMaxItems,
  groupOf,
}: BatchedOptions<Item, Result>): (db: Kysely<Database>, item: Item) => Promise<Result> {
  const callsOf = new WeakMap<Kysely<Database>, (item: Item) => Promise<Result>>()
  return (db, item) => {
    let call = callsOf.get(db)
    if (!call) {
      call = createBatcher<Item, Result>({
        run: async (items) => {
          const [first] = items
          return items.length === 1 && first !== undefined ? [await one(db, first)] : many(db, items)
        },
        maxItems,
        maxInFlight,
        maxWaitMilliseconds,
        isItemError,
        isBlocked: isLockTimeout,
        ...(groupOf && { groupOf }),
      })
      callsOf.set(db, call)
    }
    return call(item)
  }
}

/** Data that PostgreSQL does not take, a broken constraint, or a deadlock that halving dissolves. */
function isItemError(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return /^(22|23)/.test(code) || code === '40P01'
}
