import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseRetryAfter } from '../../../src/platform/retry-after.ts'
import { nextWaitSeconds } from '../../../src/webhooks/queue/retry-schedule.ts'

const schedule = [5, 300, 1800, 7200, 18_000, 36_000, 36_000]
const hour = 3600

test.each([
  { attempts: 1, retryAfterSeconds: undefined, random: 0, waits: 5 },
  { attempts: 1, retryAfterSeconds: undefined, random: 1, waits: 5.5 },
  { attempts: 2, retryAfterSeconds: undefined, random: 0.5, waits: 315 },
  { attempts: 7, retryAfterSeconds: undefined, random: 0, waits: 36_000 },
  { attempts: 1, retryAfterSeconds: 60, random: 0, waits: 60 },
  { attempts: 3, retryAfterSeconds: 60, random: 0, waits: 1800 },
  { attempts: 1, retryAfterSeconds: 1e9, random: 0, waits: 24 * hour },
])(
  'waits $waits s after attempt $attempts with Retry-After $retryAfterSeconds s',
  ({ attempts, retryAfterSeconds, random, waits }) => {
    expect(nextWaitSeconds(schedule, { attempts, retryAfterSeconds }, () => random)).toBeCloseTo(waits)
  },
)

test.each([undefined, 60])('stops after the last attempt with Retry-After %s s', (retryAfterSeconds) => {
  expect(nextWaitSeconds(schedule, { attempts: 8, retryAfterSeconds }, () => 0)).toBeUndefined()
})

test('lengthens but never shortens the wait by jitter and Retry-After, within limits', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 1_000_000 }), { minLength: 1, maxLength: 10 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.option(fc.double({ min: 0, max: 1e9, noNaN: true }), { nil: undefined }),
      (waits, chance, retryAfterSeconds) => {
        for (const [index, scheduled] of waits.entries()) {
          const wait = nextWaitSeconds(waits, { attempts: index + 1, retryAfterSeconds }, () => chance)
          expect(wait).toBeGreaterThanOrEqual(scheduled)
          expect(wait).toBeLessThanOrEqual(Math.max(scheduled * 1.1, 24 * hour) + 1e-6)
        }
        expect(nextWaitSeconds(waits, { attempts: waits.length + 1, retryAfterSeconds }, () => chance)).toBeUndefined()
      },
    ),
  )
})

const now = new Date('2026-11-20T12:00:00Z')

test.each([
  { value: '120', date: undefined, seconds: 120 },
  { value: ' 0 ', date: undefined, seconds: 0 },
  { value: 'Fri, 20 Nov 2026 12:01:30 GMT', date: undefined, seconds: 90 },
  { value: 'Fri, 20 Nov 2026 11:00:00 GMT', date: undefined, seconds: 0 },
  // The receiver's clock is ten minutes ahead; only the difference between its times matters.
  { value: 'Fri, 20 Nov 2026 12:11:00 GMT', date: 'Fri, 20 Nov 2026 12:10:00 GMT', seconds: 60 },
  { value: 'Fri, 20 Nov 2026 12:01:30 GMT', date: 'yesterday', seconds: 90 },
  { value: 'soon', date: undefined, seconds: undefined },
  { value: '-5', date: undefined, seconds: undefined },
  { value: '120 s', date: undefined, seconds: undefined },
  { value: '1.5', date: undefined, seconds: undefined },
])('reads Retry-After "$value" with Date "$date" as $seconds s', ({ value, date, seconds }) => {
  expect(parseRetryAfter(value, { date, now })).toBe(seconds)
})
