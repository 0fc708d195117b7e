import type { Kysely } from 'kysely'
import type { BatchedOptions } from '../../src/platform/db/batched.ts'
import type { Database } from '../../src/platform/db/schema.ts'

/** Replaces `batched`: each call runs immediately on its own. */
export function batched<Item, Result>({
  one,
}: BatchedOptions<Item, Result>): (db: Kysely<Database>, item: Item) => Promise<Result> {
  return one
}
