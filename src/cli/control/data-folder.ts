import { setTimeout as delay } from 'node:timers/promises'
import { ServiceError } from '../../../contracts/errors.ts'
import { describeMove } from '../move/marker.ts'
import {
  claimDataFolder,
  type DataFolder,
  type LockHolder,
  readLockHolder,
} from '../../platform/db/embedded/data-folder.ts'

/** On a busy machine or a slow disk, creating the database takes half a minute, and the folder is not released before. */
const maxWaitMilliseconds = 120_000
const pauseMilliseconds = 50

/**
 * Waits until this process holds the data folder: a command holds it briefly, and a server that is starting will soon
 * accept commands. `onHeld` is called for each other holder; if it returns a result, the wait ends with that result.
 */
export async function acquireDataFolder<T>(
  dataDir: string,
  command: string,
  onHeld: (holder: LockHolder) => Promise<T | undefined>,
  { duringMove = false } = {},
): Promise<{ folder: DataFolder } | { result: T }> {
  const deadline = Date.now() + maxWaitMilliseconds
  for (;;) {
    const folder = claimDataFolder(dataDir, command)
    if (folder) {
      if (!duringMove) rejectMoved(folder)
      return { folder }
    }
    const holder = readLockHolder(dataDir)
    const result = holder && (await onHeld(holder))
    if (result !== undefined) return { result }
    if (Date.now() > deadline)
      throw new ServiceError(
        'SETTING_REFUSED',
        `${describeLockHolder(dataDir, holder)} Try again when it has finished.`,
      )
    // Random pauses, so that two waiting processes do not retry at the same times.
    await delay(pauseMilliseconds * (1 + Math.random()))
  }
}

/** Rejects writes during and after a move, because they would be missing in the other database. */
function rejectMoved(folder: DataFolder): void {
  const reason = describeMove(folder.dataDir)
  if (reason === undefined) return
  folder.release()
  throw new ServiceError('SETTING_REFUSED', reason)
}

export function describeLockHolder(dataDir: string, holder: LockHolder | undefined): string {
  const user = holder
    ? `process ${holder.pid} (waybill ${holder.command}, since ${holder.startedAt})`
    : 'another process'
  return `The data folder ${dataDir} is in use by ${user}.`
}
