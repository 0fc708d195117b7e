import type { Deps } from '../../deps.ts'
import { awaitRunningWrites } from '../../platform/db/running-writes.ts'
import { deleteOldContents } from './store.ts'

/**
 * Deletes the contents of an account that has stopped storing them. Waits for running inserts first, because they can
 * still add contents. If this is interrupted, housekeeping deletes the rest.
 */
export async function dropContents({ db, now }: Pick<Deps, 'db' | 'now'>, accountId: string): Promise<void> {
  await awaitRunningWrites(db)
  await deleteOldContents(db, now(), accountId)
}
