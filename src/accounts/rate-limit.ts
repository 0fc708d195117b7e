import { errorFactsWithValues } from '../../contracts/facts/errors.ts'
import { ServiceError } from '../../contracts/errors.ts'

/** The remaining requests of an account in the current minute. */
export interface MinuteUse {
  limit: number
  /** Requests counted in the current minute, including this one. */
  used: number
  /** Whole seconds until the minute ends. */
  resetSeconds: number
}

const windowSeconds = 60

/** Header fields of draft-ietf-httpapi-ratelimit-headers-10. */
export function rateLimitHeaders({
  limit,
  used,
  resetSeconds,
}: MinuteUse): Record<'RateLimit' | 'RateLimit-Policy', string> {
  return {
    RateLimit: `"default";r=${Math.max(0, limit - used)};t=${resetSeconds}`,
    'RateLimit-Policy': `"default";q=${limit};w=${windowSeconds}`,
  }
}

export function assertWithinRateLimit({ limit, used, resetSeconds }: MinuteUse): void {
  if (used <= limit) return
  const seconds = Math.max(1, resetSeconds)
  throw new ServiceError(
    'RATE_LIMIT_EXCEEDED',
    errorFactsWithValues.requestsPerMinute({ limit, resetSeconds: seconds }),
    {
      retryAfterSeconds: seconds,
    },
  )
}
