import { ServiceError } from '../../../contracts/errors.ts'
import { BoundedMap } from '../../platform/bounded-map.ts'

const maxAccounts = 10_000

/** Throws RATE_LIMIT_EXCEEDED once an account has used up its calls for the period on this node. */
export type CallBudget = (accountId: string) => void

interface Period {
  milliseconds: number
  /** What the account may do, such as `create 100 templates per hour`. */
  describe: (limit: number) => string
}

const checksPerMinute: Period = {
  milliseconds: 60_000,
  describe: (limit) => `ask WhatsApp for ${limit} checks and changes per minute`,
}

/** WhatsApp's limit, per hour and WhatsApp Business Account (reference 2, section 3.3). */
export const creationsPerHour: Period = {
  milliseconds: 3_600_000,
  describe: (limit) => `create ${limit} templates per hour`,
}

/**
 * Limits the management calls of one account to WhatsApp. WhatsApp limits them per app, and the accounts of an
 * installation often share an app.
 */
export function createCallBudget(
  limit: number,
  clock: () => number = () => performance.now(),
  { milliseconds, describe }: Period = checksPerMinute,
): CallBudget {
  const windows = new BoundedMap<string, { endsAt: number; calls: number }>(maxAccounts)
  return (accountId) => {
    const now = clock()
    const current = windows.get(accountId)
    const window = current && current.endsAt > now ? current : { endsAt: now + milliseconds, calls: 0 }
    windows.set(accountId, window)
    window.calls++
    if (window.calls <= limit) return
    const retryAfterSeconds = Math.ceil((window.endsAt - now) / 1000)
    throw new ServiceError(
      'RATE_LIMIT_EXCEEDED',
      `This account may ${describe(limit)}. Try again in ${retryAfterSeconds} seconds.`,
      { retryAfterSeconds },
    )
  }
}
