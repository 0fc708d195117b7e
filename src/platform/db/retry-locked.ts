import { setTimeout as delay } from 'node:timers/promises'
import { isDeadlock, isLockTimeout } from './errors.ts'

const retryMilliseconds = [100, 500, 1_000, 2_000, 5_000]

/**
 * Retries a transaction that could not get a lock. For background work only: a request fails immediately instead.
 */
export async function retryLocked<Result>(run: () => Promise<Result>): Promise<Result> {
  for (const milliseconds of retryMilliseconds) {
    try {
      return await run()
    } catch (error) {
      if (!isLockTimeout(error) && !isDeadlock(error)) throw error
      await delay(milliseconds)
    }
  }
  return run()
}
