import { expect, test } from 'vitest'
import {
  adapt,
  type AdaptiveWindow,
  claimable,
  fairShare,
  maxRunning,
  openWindow,
} from '../../../src/webhooks/queue/adaptive-window.ts'
import { EndpointConcurrency, planClaimPasses } from '../../../src/webhooks/queue/endpoint-concurrency.ts'

const maxHeld = 1_024
const maxClaimed = 256

test.each([
  { held: [0, 0, 0], turns: ['all 256 of 4'] },
  { held: [700, 0, 0], turns: ['all 256 of 4'] },
  { held: [900, 10, 10], turns: ['all 104 of 4'] },
  { held: [0, 100, 100], turns: ['all 156 of 4'] },
  { held: [0, 256, 0], turns: ['all 256 of 2'] },
  { held: [0, 0, 200], turns: ['unknown 256 of 4', 'failing 56 of 4', 'proven 256 of 4'] },
  { held: [0, 0, 256], turns: ['unknown 256 of 2', 'proven 256 of 2'] },
  { held: [0, 400, 100], turns: ['unknown 12 of 2', 'failing 12 of 2', 'proven 256 of 2'] },
  { held: [0, 512, 0], turns: ['proven 256 of 2'] },
  { held: [0, 0, 512], turns: ['proven 256 of 2'] },
  { held: [500, 512, 0], turns: ['proven 12 of 2'] },
  { held: [900, 0, 100], turns: ['all 24 of 4'] },
  { held: [1_024, 0, 0], turns: [] },
] as const)('plans $turns while $held proven, unknown and failing deliveries are held', ({ held, turns }) => {
  const [proven, unknown, failing] = held
  const planned = planClaimPasses({ proven, unknown, failing }, maxHeld, maxClaimed)
  expect(planned.map(({ of, limit, unknownWindow }) => `${of} ${limit} of ${unknownWindow}`)).toEqual(turns)
})

test('allows a worker with a limit of one to hold a delivery', () => {
  expect(planClaimPasses({ proven: 0, unknown: 0, failing: 0 }, 1, maxClaimed)).toMatchObject([{ of: 'all', limit: 1 }])
})

test('gives an endpoint more concurrency for a while after a success', () => {
  const concurrency = new EndpointConcurrency({ maxSlowHeld: 300 })
  const turn = { limit: 10, unknownWindow: 2 }
  concurrency.begin('we_1', { isFailing: false, window: 4, isLimited: false }, 0, () => {})
  expect(concurrency.capacities({ of: 'proven', ...turn }, 0)).toEqual([{ endpointId: 'we_1', deliveries: 0 }])
  expect(concurrency.capacities({ of: 'unknown', ...turn }, 0)).toEqual([{ endpointId: 'we_1', deliveries: 1 }])
  concurrency.end('we_1', { outcome: 'delivered', milliseconds: 100 }, 100)
  expect(concurrency.capacities({ of: 'proven', ...turn }, 5_000)).toEqual([{ endpointId: 'we_1', deliveries: 5 }])
  expect(concurrency.capacities({ of: 'unknown', ...turn }, 60_000)).toEqual([{ endpointId: 'we_1', deliveries: 2 }])
})

test.each([
  { ended: { outcome: 'delivered', milliseconds: 100 }, next: 'now' },
  { ended: { outcome: 'delivered', milliseconds: 600 }, next: 'at interval' },
  { ended: { outcome: 'failed' }, next: 'at interval' },
] as const)('has more of an endpoint claimed $next after $ended', ({ ended, next }) => {
  const concurrency = new EndpointConcurrency({ maxSlowHeld: 300 })
  concurrency.begin('we_1', { isFailing: false, window: 4, isLimited: false }, 0, () => {})

  expect(concurrency.end('we_1', ended, 100)).toBe(next)
})

test('limits an endpoint without successes to the share of failing ones', () => {
  const concurrency = new EndpointConcurrency({ maxSlowHeld: 300 })
  concurrency.begin('we_1', { isFailing: false, window: 4, isLimited: false }, 0, () => {})
  concurrency.end('we_1', { outcome: 'failed' }, 100)
  const capacities = (of: 'failing' | 'unknown') => concurrency.capacities({ of, limit: 10, unknownWindow: 4 }, 100)
  expect(capacities('failing')).toEqual([{ endpointId: 'we_1', deliveries: 2 }])
  expect(capacities('unknown')).toEqual([{ endpointId: 'we_1', deliveries: 0 }])
})

const delivered = (milliseconds: number, hasMore = true) => ({ outcome: 'delivered', milliseconds, hasMore }) as const
const failed = { outcome: 'failed' } as const

/** A window after many responses of the same duration. */
function settled(size: number, milliseconds: number): AdaptiveWindow {
  return { size, recentMilliseconds: milliseconds, baselineMilliseconds: milliseconds }
}

test.each([
  { window: openWindow(4), ended: delivered(5), becomes: 5 },
  { window: openWindow(4), ended: delivered(2_000), becomes: 5 },
  { window: openWindow(4), ended: delivered(14_000), becomes: 5 },
  { window: settled(100, 2_000), ended: delivered(2_000), becomes: 101 },
  { window: settled(256, 2_000), ended: delivered(2_000), becomes: 256 },
  { window: settled(256, 2_000), ended: failed, becomes: 128 },
  { window: settled(3, 2_000), ended: failed, becomes: 2 },
  { window: settled(2, 2_000), ended: failed, becomes: 2 },
  // One outlier does not shrink the window.
  { window: settled(100, 50), ended: delivered(10_000), becomes: 101 },
  // Responses that take twice as long as with few requests do.
  { window: { size: 100, recentMilliseconds: 3_000, baselineMilliseconds: 500 }, ended: delivered(3_000), becomes: 99 },
  {
    window: { size: 100, recentMilliseconds: 3_000, baselineMilliseconds: 1_900 },
    ended: delivered(3_000),
    becomes: 101,
  },
  {
    window: { size: 100, recentMilliseconds: 2_000, baselineMilliseconds: 1_000 },
    ended: delivered(2_000),
    becomes: 101,
  },
  // With few requests, the response time is the endpoint's baseline.
  { window: { size: 5, recentMilliseconds: 3_000, baselineMilliseconds: 500 }, ended: delivered(3_000), becomes: 4 },
  { window: { size: 4, recentMilliseconds: 3_000, baselineMilliseconds: 500 }, ended: delivered(3_000), becomes: 5 },
  // A slow endpoint without further deliveries reveals nothing about its limits.
  { window: settled(20, 2_000), ended: delivered(2_000, false), becomes: 20 },
  { window: settled(20, 50), ended: delivered(50, false), becomes: 21 },
])('changes a window of $window.size to $becomes after $ended.outcome ($ended.milliseconds ms)', (row) => {
  expect(adapt(row.window, row.ended).size).toBe(row.becomes)
})

test.each([
  { milliseconds: 5, running: 64, claims: 256 },
  { milliseconds: 500, running: 64, claims: 256 },
  { milliseconds: 1_000, running: 128, claims: 128 },
  { milliseconds: 2_000, running: 256, claims: 256 },
  { milliseconds: 14_000, running: 256, claims: 256 },
])('allows $running requests and $claims claims to an endpoint that takes $milliseconds ms', (row) => {
  expect(maxRunning(settled(256, row.milliseconds))).toBe(row.running)
  expect(claimable(settled(256, row.milliseconds))).toBe(row.claims)
})

test('reaches 100 deliveries a second within twenty seconds if each takes two seconds', () => {
  let window = openWindow(4)
  let seconds = 0
  for (; claimable(window) / 2 < 100; seconds += 2)
    for (let responses = claimable(window); responses > 0; responses--) window = adapt(window, delivered(2_000))
  expect(seconds).toBeLessThanOrEqual(20)
})

test('keeps the response time below twice the usual one if an endpoint handles eight requests a second', () => {
  let window = openWindow(4)
  const times: number[] = []
  for (let responses = 0; responses < 5_000; responses++) {
    const milliseconds = Math.max(500, (claimable(window) / 8) * 1_000)
    times.push(milliseconds)
    window = adapt(window, delivered(milliseconds))
  }
  expect(Math.max(...times.slice(-1_000))).toBeLessThan(2_500)
})

test('adapts to an endpoint that has become slower', () => {
  let window = settled(256, 50)
  for (let responses = 0; responses < 1_500; responses++) window = adapt(window, delivered(3_000))
  expect(window.size).toBe(256)
})

test.each([
  { wanted: [256], slots: 1_024, share: Infinity },
  { wanted: [256, 256, 256, 256], slots: 1_024, share: Infinity },
  { wanted: [256, 256, 256, 256, 256], slots: 1_024, share: 204 },
  { wanted: [1, 1, 1, 256, 256], slots: 303, share: 150 },
  { wanted: [256, 1, 256, 1, 1], slots: 303, share: 150 },
  { wanted: [9, 10, 100], slots: 60, share: 41 },
  { wanted: [5, 5, 5], slots: 1, share: 1 },
  { wanted: [], slots: 10, share: Infinity },
])('gives endpoints that want $wanted of $slots slots at most $share', ({ wanted, slots, share }) => {
  expect(fairShare(wanted, slots)).toBe(share)
})

test('claims for slow endpoints separately, in equal shares', () => {
  const concurrency = new EndpointConcurrency({ maxSlowHeld: 300 })
  for (const id of ['we_1', 'we_2', 'we_quick']) {
    for (let n = 0; n < 300; n++) {
      concurrency.begin(id, { isFailing: false, window: 4, isLimited: false }, 0, () => {})
      concurrency.end(id, { outcome: 'delivered', milliseconds: id === 'we_quick' ? 5 : 2_000 }, 0)
    }
  }
  expect(concurrency.plan(1_024, 256, 0)).toMatchObject([{ of: 'all', limit: 256 }])
  const slow = concurrency.planSlow(256, 0)
  expect(slow).toMatchObject({ of: 'slow', limit: 256 })
  expect(slow && concurrency.capacities(slow, 0)).toEqual([
    { endpointId: 'we_1', deliveries: 150 },
    { endpointId: 'we_2', deliveries: 150 },
    { endpointId: 'we_quick', deliveries: 0 },
  ])
  expect(concurrency.capacities({ of: 'all', limit: 256, unknownWindow: 4 }, 0)).toEqual([
    { endpointId: 'we_1', deliveries: 0 },
    { endpointId: 'we_2', deliveries: 0 },
    { endpointId: 'we_quick', deliveries: 256 },
  ])

  // An endpoint without further deliveries leaves its share to the other.
  concurrency.recordClaim([{ endpointId: 'we_1', deliveries: 150 }], [])
  expect(slow && concurrency.capacities(slow, 0)).toMatchObject([{}, { endpointId: 'we_2', deliveries: 256 }, {}])
})
