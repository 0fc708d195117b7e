import { setTimeout as delay } from 'node:timers/promises'
import { ServiceError } from '../../../contracts/errors.ts'
import { claimDataFolder, type DataFolder, type LockHolder, readLockHolder } from '../../platform/db/data-folder.ts'

/** A first start on a slow disk makes the whole database, and flushes it, before it lets go. */
const patienceMilliseconds = 30_000
const pauseMilliseconds = 50

/**
 * Waits until the data folder is ours: a command holds it for a moment, a server that starts will soon
 * take commands. Meanwhile `meet` may make something of its owner, and end the wait by doing so.
 */
export async function ownDataFolder<T>(
  dataDir: string,
  command: string,
  meet: (owner: LockHolder) => Promise<T | undefined>,
): Promise<{ folder: DataFolder } | { met: T }> {
  const deadline = Date.now() + patienceMilliseconds
  for (;;) {
    const folder = claimDataFolder(dataDir, command)
    if (folder) return { folder }
    const owner = readLockHolder(dataDir)
    const met = owner && (await meet(owner))
    if (met !== undefined) return { met }
    if (Date.now() > deadline)
      throw new ServiceError('SETTING_REFUSED', `${describeLockHolder(dataDir, owner)} Try again when it is done.`)
    // Unequal pauses, so that two that wait do not stay in step.
    await delay(pauseMilliseconds * (1 + Math.random()))
  }
}

export function describeLockHolder(dataDir: string, owner: LockHolder | undefined): string {
  const who = owner ? `process ${owner.pid} (waybill ${owner.command}, since ${owner.startedAt})` : 'another process'
  return `The data folder ${dataDir} is in use by ${who}.`
}
