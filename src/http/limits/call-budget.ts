import { ServiceError } from '../../../contracts/errors.ts'
import { BoundedMap } from '../../platform/bounded-map.ts'

const maxKeys = 10_000

/** Throws RATE_LIMIT_EXCEEDED once an account or member has used up their calls for the period on this node. */
export type CallBudget = (key: string) => void

export interface Period {
  milliseconds: number
  /** Who may do what, such as `This account may create 100 templates per hour`. */
  describe: (limit: number) => string
}

const checksPerMinute: Period = {
  milliseconds: 60_000,
  describe: (limit) => `This account may ask WhatsApp for ${limit} checks and changes per minute`,
}

/** WhatsApp's limit, per hour and WhatsApp Business Account (reference 2, section 3.3). */
export const creationsPerHour: Period = {
  milliseconds: 3_600_000,
  describe: (limit) => `This account may create ${limit} templates per hour`,
}

/**
 * Limits the calls of each key. By default, a key is an account and its calls are management calls to WhatsApp, which
 * limits them per app: the accounts of an installation often share an app.
 */
export function createCallBudget(
  limit: number,
  clock: () => number = () => performance.now(),
  { milliseconds, describe }: Period = checksPerMinute,
): CallBudget {
  const windows = new BoundedMap<string, { endsAt: number; calls: number }>(maxKeys)
  return (key) => {
    const now = clock()
    const current = windows.get(key)
    const window = current && current.endsAt > now ? current : { endsAt: now + milliseconds, calls: 0 }
    windows.set(key, window)
    window.calls++
    if (window.calls <= limit) return
    const retryAfterSeconds = Math.ceil((window.endsAt - now) / 1000)
    throw new ServiceError('RATE_LIMIT_EXCEEDED', `${describe(limit)}. Try again in ${retryAfterSeconds} seconds.`, {
      retryAfterSeconds,
    })
  }
}
