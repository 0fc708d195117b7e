import { expect, test } from 'vitest'
import {
  countAllowed,
  type LimitedEndpoint,
  paceAfter,
  secondsUntilAllowed,
} from '../../../src/webhooks/queue/endpoint-limits.ts'

const unlimited: LimitedEndpoint = { maxPerSecond: null, maxConcurrent: null, pacedSeconds: 0, running: 0 }
const tenPerSecond = { ...unlimited, maxPerSecond: 10 }

test.each([
  { limits: 'no limits', endpoint: { ...unlimited, running: 1_000 }, allowed: Infinity },
  { limits: '3 concurrent, none running', endpoint: { ...unlimited, maxConcurrent: 3 }, allowed: 3 },
  { limits: '3 concurrent, 2 running', endpoint: { ...unlimited, maxConcurrent: 3, running: 2 }, allowed: 1 },
  { limits: '3 concurrent, 3 running', endpoint: { ...unlimited, maxConcurrent: 3, running: 3 }, allowed: 0 },
  // The limit was lowered while they ran.
  { limits: '3 concurrent, 5 running', endpoint: { ...unlimited, maxConcurrent: 3, running: 5 }, allowed: 0 },
  { limits: '10 per second, just used', endpoint: { ...tenPerSecond, pacedSeconds: 0 }, allowed: 0 },
  { limits: '10 per second, used ahead', endpoint: { ...tenPerSecond, pacedSeconds: 0.5 }, allowed: 0 },
  { limits: '10 per second, 0.1 s later', endpoint: { ...tenPerSecond, pacedSeconds: -0.1 }, allowed: 1 },
  {
    limits: '10 per second, 0.1 s later less a rounding',
    endpoint: { ...tenPerSecond, pacedSeconds: -0.099999 },
    allowed: 1,
  },
  { limits: '10 per second, 0.09 s later', endpoint: { ...tenPerSecond, pacedSeconds: -0.09 }, allowed: 0 },
  { limits: '10 per second, an hour later', endpoint: { ...tenPerSecond, pacedSeconds: -3_600 }, allowed: 1 },
  // One attempt, plus those of 50 ms.
  {
    limits: '100 per second, an hour later',
    endpoint: { ...tenPerSecond, maxPerSecond: 100, pacedSeconds: -3_600 },
    allowed: 6,
  },
  {
    limits: '100 per second, 30 ms later',
    endpoint: { ...tenPerSecond, maxPerSecond: 100, pacedSeconds: -0.03 },
    allowed: 3,
  },
  {
    limits: 'both, the rate is lower',
    endpoint: { maxPerSecond: 100, maxConcurrent: 10, pacedSeconds: -0.03, running: 2 },
    allowed: 3,
  },
  {
    limits: 'both, the concurrency is lower',
    endpoint: { maxPerSecond: 100, maxConcurrent: 10, pacedSeconds: -0.03, running: 8 },
    allowed: 2,
  },
])('allows $allowed attempts with $limits', ({ endpoint, allowed }) => {
  expect(countAllowed(endpoint)).toBe(allowed)
})

test.each([
  { perSecond: null, pacedSeconds: 5, started: 3, paced: 0 },
  { perSecond: 10, pacedSeconds: 0, started: 1, paced: 0.1 },
  { perSecond: 10, pacedSeconds: -0.1, started: 1, paced: 0 },
  { perSecond: 10, pacedSeconds: 0.2, started: 2, paced: 0.4 },
  // Credit does not accumulate during a long pause.
  { perSecond: 10, pacedSeconds: -3_600, started: 1, paced: -0.05 },
  { perSecond: 100, pacedSeconds: -3_600, started: 6, paced: 0 },
])(
  'accounts for $started attempts of $perSecond per second until $paced s from now',
  ({ perSecond, pacedSeconds, started, paced }) => {
    expect(paceAfter({ ...unlimited, maxPerSecond: perSecond, pacedSeconds }, started)).toBeCloseTo(paced, 9)
  },
)

test.each([
  // Full: a running delivery may end at any time.
  { perSecond: null, pacedSeconds: 9, waits: 0.05 },
  { perSecond: 10, pacedSeconds: 0, waits: 0.1 },
  { perSecond: 10, pacedSeconds: 0.3, waits: 0.4 },
  { perSecond: 10, pacedSeconds: -0.06, waits: 0.04 },
  { perSecond: 10, pacedSeconds: -0.09, waits: 0.02 },
  { perSecond: 1_000, pacedSeconds: 0, waits: 0.02 },
])(
  'looks again after $waits s at $perSecond per second, paced $pacedSeconds s',
  ({ perSecond, pacedSeconds, waits }) => {
    expect(secondsUntilAllowed({ ...unlimited, maxPerSecond: perSecond, pacedSeconds })).toBeCloseTo(waits, 9)
  },
)

test('keeps the rate over a second, whenever attempts are claimed', () => {
  const endpoint = { ...unlimited, maxPerSecond: 50 }
  let started = 0
  for (let milliseconds = 0, pacedSeconds = 0; milliseconds < 1_000; milliseconds += 7, pacedSeconds -= 0.007) {
    const allowed = countAllowed({ ...endpoint, pacedSeconds })
    if (allowed === 0) continue
    started += allowed
    pacedSeconds = paceAfter({ ...endpoint, pacedSeconds }, allowed)
  }
  expect(started).toBe(49)
})
