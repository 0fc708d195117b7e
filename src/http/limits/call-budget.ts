import { ServiceError } from '../../../contracts/errors.ts'
import { BoundedMap } from '../../platform/bounded-map.ts'

const windowMilliseconds = 60_000
const maxAccounts = 10_000

/** Throws RATE_LIMIT_EXCEEDED once an account has used up its calls of the minute, on this node. */
export type CallBudget = (accountId: string) => void

/**
 * Limits what one account can cause at WhatsApp: it rations management calls per app, and the accounts of one
 * installation often share an app.
 */
export function createCallBudget(perMinute: number, clock: () => number = () => performance.now()): CallBudget {
  const windows = new BoundedMap<string, { endsAt: number; calls: number }>(maxAccounts)
  return (accountId) => {
    const now = clock()
    const known = windows.get(accountId)
    const window = known && known.endsAt > now ? known : { endsAt: now + windowMilliseconds, calls: 0 }
    windows.set(accountId, window)
    window.calls++
    if (window.calls <= perMinute) return
    const retryAfterSeconds = Math.ceil((window.endsAt - now) / 1000)
    throw new ServiceError(
      'RATE_LIMIT_EXCEEDED',
      `This account may ask WhatsApp for ${perMinute} checks and changes per minute. Try again in ${retryAfterSeconds} seconds.`,
      { retryAfterSeconds },
    )
  }
}
