import type { Kysely } from 'kysely'
import { type BatchOptions, createBatcher } from '../batch.ts'
import type { Database } from './schema.ts'
import { createTracedBatcher, tracingOf } from './traced.ts'
import { isLockTimeout, isItemError } from './errors.ts'

export interface BatchedOptions<Item, Result> {
  /** Names the spans of the calls. */
  name: string
  /** Runs a single call: a statement for one item is a fifth faster than a batch of one. */
  one: (db: Kysely<Database>, item: Item) => Promise<Result>
  /** Runs all items in one statement and returns their results in order. */
  many: (db: Kysely<Database>, items: readonly Item[]) => Promise<readonly Result[]>
  /** Maximum number of items per batch; set it lower if an item can mean much work. */
  maxItems?: number
  /** Returns the group of an item, if a locked row of one account must not delay the others in its batch. */
  groupOf?: (item: Item) => string
}

/**
 * Measured: with more concurrent batches, each holds fewer calls; with only one, calls wait for each other.
 */
const defaultMaxItems = 128
const maxInFlight = 2
const defaultMaxWaitMilliseconds = 2_000
const maxWaits = new WeakMap<Kysely<Database>, number>()

/** A call that has not started by then fails with SERVICE_UNAVAILABLE, as without a connection. */
export function setMaxWait(db: Kysely<Database>, milliseconds: number): void {
  maxWaits.set(db, milliseconds)
}

/** Wraps a store function so that concurrent calls on the same database run as one statement. */
export function batched<Item, Result>({
  name,
  one,
  many,
  maxItems = defaultMaxItems,
  groupOf,
}: BatchedOptions<Item, Result>): (db: Kysely<Database>, item: Item) => Promise<Result> {
  const callByDb = new WeakMap<Kysely<Database>, (item: Item) => Promise<Result>>()
  return (db, item) => {
    let call = callByDb.get(db)
    if (!call) {
      const options: BatchOptions<Item, Result> = {
        run: (items) => {
          const { 0: first } = items
          if (items.length > 1 || first === undefined) return many(db, items)
          return one(db, first).then((result) => [result])
        },
        maxItems,
        maxInFlight,
        maxWaitMilliseconds: maxWaits.get(db) ?? defaultMaxWaitMilliseconds,
        isItemError,
        isBlocked: isLockTimeout,
        ...(groupOf && { groupOf }),
      }
      const tracing = tracingOf(db)
      call = tracing ? createTracedBatcher(tracing, name, options) : createBatcher(options)
      callByDb.set(db, call)
    }
    return call(item)
  }
}
