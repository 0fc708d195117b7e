import type { Kysely } from 'kysely'
import type { JoinedOptions } from '../../src/platform/db/batched.ts'
import type { Database } from '../../src/platform/db/schema.ts'

/** In the place of `joined`: a call goes straight to the database, whatever else is under way. */
export function joined<Item, Result>({
  one,
}: JoinedOptions<Item, Result>): (db: Kysely<Database>, item: Item) => Promise<Result> {
  return one
}
