import { expect, test } from 'vitest'
import { assertWithinRateLimit, rateLimitHeaders } from '../../src/accounts/rate-limit.ts'

test.each([
  { used: 1, resetSeconds: 60, rateLimit: '"default";r=99;t=60' },
  { used: 99, resetSeconds: 12, rateLimit: '"default";r=1;t=12' },
  { used: 100, resetSeconds: 12, rateLimit: '"default";r=0;t=12' },
  { used: 250, resetSeconds: 0, rateLimit: '"default";r=0;t=0' },
])('reports $rateLimit after $used of 100 requests', ({ used, resetSeconds, rateLimit }) => {
  expect(rateLimitHeaders({ limit: 100, used, resetSeconds })).toEqual({
    RateLimit: rateLimit,
    'RateLimit-Policy': '"default";q=100;w=60',
  })
})

test.each([0, 1, 99, 100])('allows request %i of 100', (used) => {
  expect(() => assertWithinRateLimit({ limit: 100, used, resetSeconds: 30 })).not.toThrow()
})

test.each([
  { used: 101, resetSeconds: 30, retryAfterSeconds: 30 },
  { used: 5_000, resetSeconds: 1, retryAfterSeconds: 1 },
  // The minute ends now, but Retry-After must never be 0.
  { used: 101, resetSeconds: 0, retryAfterSeconds: 1 },
])(
  'rejects request $used of 100 for $retryAfterSeconds s if the minute ends in $resetSeconds s',
  ({ used, resetSeconds, retryAfterSeconds }) => {
    expect(() => assertWithinRateLimit({ limit: 100, used, resetSeconds })).toThrow(
      expect.objectContaining({
        code: 'RATE_LIMIT_EXCEEDED',
        message: `This account may send 100 requests per minute. Try again in ${retryAfterSeconds} seconds.`,
        retryAfterSeconds,
      }),
    )
  },
)
