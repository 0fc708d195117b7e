import { expect, test } from 'vitest'
import { exposeCollection, type IdleCollection, observe } from '../../../src/cli/processes/idle-collection.ts'

/** Returns the seconds at which garbage is collected. */
function listCollections(utilizations: readonly number[]): number[] {
  const collected: number[] = []
  let state: IdleCollection = { wasBusy: false, idleFor: 0, collectedAt: -Infinity }
  for (const [second, utilization] of utilizations.entries()) {
    const next = observe(state, { utilization, now: second * 1_000 })
    if (next.collectedAt !== state.collectedAt) collected.push(second)
    state = next
  }
  return collected
}

test.each([
  { when: 'once after a burst', utilizations: [0.01, 0.9, 0.8, 0.3, 0.02, 0.01, 0.01, 0.01, 0.01], seconds: [6] },
  { when: 'not while requests are served', utilizations: [0.9, 0.9, 0.3, 0.2, 0.4], seconds: [] },
  { when: 'not in a moment between requests', utilizations: [0.9, 0.01, 0.01, 0.3, 0.01, 0.01, 0.9], seconds: [] },
  { when: 'not without a burst', utilizations: Array.from({ length: 100 }, () => 0.05), seconds: [] },
  {
    when: 'at most every 30 seconds',
    utilizations: Array.from({ length: 70 }, (_, second) => (second % 4 === 0 ? 0.9 : 0.01)),
    seconds: [3, 35, 67],
  },
])('collects garbage $when', ({ utilizations, seconds }) => {
  expect(listCollections(utilizations)).toEqual(seconds)
})

test('frees unused memory', async () => {
  const collect = exposeCollection()
  await collect()
  const before = process.memoryUsage().heapUsed
  let garbage: number[][] | undefined = Array.from({ length: 64 }, () =>
    Array.from({ length: 65_536 }, (_, n) => n + 0.5),
  )
  const full = process.memoryUsage().heapUsed
  expect(garbage).toHaveLength(64)
  garbage = undefined
  await collect()

  expect(process.memoryUsage().heapUsed - before).toBeLessThan((full - before) / 2)
})
