import { expect, test } from 'vitest'
import { EndpointConcurrency, planClaimPasses } from '../../src/webhooks/queue/endpoint-concurrency.ts'

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
  const lanes = new EndpointConcurrency()
  const turn = { limit: 10, unknownWindow: 2 }
  lanes.begin('we_1', { fails: false, window: 4 }, 0, () => {})
  expect(lanes.capacities({ of: 'proven', ...turn }, 0)).toEqual([{ endpointId: 'we_1', deliveries: 0 }])
  expect(lanes.capacities({ of: 'unknown', ...turn }, 0)).toEqual([{ endpointId: 'we_1', deliveries: 1 }])
  lanes.end('we_1', 'quick', 100)
  expect(lanes.capacities({ of: 'proven', ...turn }, 5_000)).toEqual([{ endpointId: 'we_1', deliveries: 5 }])
  expect(lanes.capacities({ of: 'unknown', ...turn }, 60_000)).toEqual([{ endpointId: 'we_1', deliveries: 2 }])
})

test('limits an endpoint without successes to the share of failing ones', () => {
  const lanes = new EndpointConcurrency()
  lanes.begin('we_1', { fails: false, window: 4 }, 0, () => {})
  lanes.end('we_1', 'failed', 100)
  const rooms = (of: 'failing' | 'unknown') => lanes.capacities({ of, limit: 10, unknownWindow: 4 }, 100)
  expect(rooms('failing')).toEqual([{ endpointId: 'we_1', deliveries: 2 }])
  expect(rooms('unknown')).toEqual([{ endpointId: 'we_1', deliveries: 0 }])
})
