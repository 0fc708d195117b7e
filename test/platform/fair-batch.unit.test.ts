import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createFairBatcher, type FairBatchOptions } from '../../src/platform/fair-batch.ts'

/** Runs batches that the test ends. The result of a part is its items. */
function openBatches(options: Partial<FairBatchOptions<string, string[]>> = {}) {
  const batches: { parts: string[][]; end: () => void; fail: (error: Error) => void }[] = []
  const call = createFairBatcher<string, string[]>({
    run: (parts) =>
      new Promise((resolve, reject) => {
        const copies = parts.map((part) => [...part])
        batches.push({ parts: copies, end: () => resolve(copies), fail: reject })
      }),
    sum: (results) => results.flat(),
    maxItems: 4,
    minItems: 1,
    maxMilliseconds: 60,
    now: () => 0,
    share: 2,
    maxInFlight: 1,
    retry: () => 'none',
    ...options,
  })
  return { call, batches, parts: () => batches.map((batch) => batch.parts) }
}

/** Lets pending callbacks and their consequences run. */
async function turn(): Promise<void> {
  for (let count = 0; count < 2; count++) await new Promise<void>((resolve) => setImmediate(resolve))
}

/** `a1`, `a2`, … */
function items(key: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${key}${index + 1}`)
}

test('runs a single call immediately', async () => {
  const { call, batches } = openBatches()
  const result = call('a', ['a1'])
  await Promise.resolve()
  batches[0]?.end()
  expect(await result).toEqual(['a1'])
})

test('resolves a call without items', async () => {
  const { call, batches } = openBatches()
  expect(await call('a', [])).toEqual([])
  expect(batches).toEqual([])
})

test('spreads a large call over successive batches of at most maxItems', async () => {
  const { call, batches, parts } = openBatches({ maxInFlight: 2 })
  const result = call('a', items('a', 6))
  await turn()
  expect(parts()).toEqual([[['a1', 'a2', 'a3', 'a4']]])
  batches[0]?.end()
  await turn()
  expect(parts()[1]).toEqual([['a5', 'a6']])
  batches[1]?.end()
  expect(await result).toEqual(items('a', 6))
})

test('gives each key its share of the next batch, even if another key has queued many items', async () => {
  const { call, batches, parts } = openBatches()
  const large = [call('a', items('a', 9)), call('a', items('a', 9))]
  await turn()
  const single = call('b', ['b1'])
  batches[0]?.end()
  await turn()
  expect(parts()[1]).toEqual([['a5', 'a6'], ['b1']])
  batches[1]?.end()
  expect(await single).toEqual(['b1'])
  for (let index = 2; index < 9; index++) {
    await turn()
    batches[index]?.end()
  }
  expect(await Promise.all(large)).toEqual([items('a', 9), items('a', 9)])
})

test('starts the next batch with the keys that did not fit into the last one', async () => {
  const { call, batches, parts } = openBatches()
  for (const key of ['a', 'b', 'c', 'd']) void call(key, items(key, 4))
  await turn()
  expect(parts()[0]).toEqual([
    ['a1', 'a2'],
    ['b1', 'b2'],
  ])
  batches[0]?.end()
  await turn()
  expect(parts()[1]).toEqual([
    ['c1', 'c2'],
    ['d1', 'd2'],
  ])
})

test('shrinks batches while they take too long and grows them again', async () => {
  let time = 0
  const { call, batches, parts } = openBatches({ now: () => time })
  void call('a', items('a', 12))
  for (const [index, took] of [100, 100, 100, 10, 10].entries()) {
    await turn()
    time += took
    batches[index]?.end()
  }
  await turn()
  expect(parts().map((batch) => batch.flat().length)).toEqual([4, 2, 1, 1, 2, 2])
})

/** Runs immediately and fails if a batch contains a bad item. */
function failing(bad: string, retry: 'halves' | 'keys' | 'none') {
  const ran: string[][] = []
  const call = createFairBatcher<string, string[]>({
    run: async (parts) => {
      ran.push(parts.flat())
      if (parts.flat().includes(bad)) throw new Error(`cannot run ${bad}`)
      return parts.map((part) => [...part])
    },
    sum: (results) => results.flat(),
    maxItems: 100,
    minItems: 1,
    maxMilliseconds: 60,
    now: () => 0,
    share: 2,
    maxInFlight: 1,
    retry: () => retry,
  })
  return { call, ran }
}

test.each(['halves', 'keys'] as const)('fails only the call with the bad item when retrying by %s', async (retry) => {
  const { call, ran } = failing('c1', retry)
  const results = await Promise.allSettled(['a', 'b', 'c', 'd'].map((key) => call(key, items(key, 3))))
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  // The other items are not run with it again.
  expect(ran.at(-1)).not.toContain('c1')
})

test('fails every call of a batch on an error that no single item causes', async () => {
  const { call } = failing('b1', 'none')
  const results = await Promise.allSettled([call('x', ['x1']), call('a', ['a1']), call('b', ['b1'])])
  expect(results.slice(1).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})

test('continues after a failed batch', async () => {
  const { call } = failing('a1', 'none')
  await expect(call('a', ['a1'])).rejects.toThrow('cannot run a1')
  expect(await call('a', ['a2'])).toEqual(['a2'])
})

test('runs each item once, in the order of its call and within the maximum batch size', async () => {
  const calls = fc.array(fc.record({ key: fc.constantFrom('a', 'b', 'c'), count: fc.integer({ min: 0, max: 12 }) }), {
    maxLength: 12,
  })
  await fc.assert(
    fc.asyncProperty(calls, fc.integer({ min: 1, max: 7 }), async (planned, maxItems) => {
      const sizes: number[] = []
      const call = createFairBatcher<string, string[]>({
        run: async (parts) => {
          sizes.push(parts.flat().length)
          await new Promise((resolve) => setImmediate(resolve))
          return parts.map((part) => [...part])
        },
        sum: (results) => results.flat(),
        maxItems,
        minItems: 1,
        maxMilliseconds: 60,
        now: () => 0,
        share: 2,
        maxInFlight: 2,
        retry: () => 'none',
      })
      const results = await Promise.all(planned.map(({ key, count }) => call(key, items(key, count))))
      expect(results).toEqual(planned.map(({ key, count }) => items(key, count)))
      expect(Math.max(0, ...sizes)).toBeLessThanOrEqual(maxItems)
    }),
    { numRuns: 200 },
  )
})
