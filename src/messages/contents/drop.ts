import type { Deps } from '../../deps.ts'
import { awaitRunningWrites } from '../../platform/db/running-writes.ts'
import { deleteOldContents } from './store.ts'

/**
 * Deletes what an account stored, once it has stopped storing contents. A send that is being recorded can still add one,
 * so it is waited for. What an interruption leaves, housekeeping deletes.
 */
export async function dropContents({ db, now }: Pick<Deps, 'db' | 'now'>, accountId: string): Promise<void> {
  await awaitRunningWrites(db)
  await deleteOldContents(db, now(), accountId)
}
