import { expect, test } from 'vitest'
import { createBatcher, dedupeByKey } from '../../src/platform/batch.ts'
import { createFairBatcher } from '../../src/platform/fair-batch.ts'

/** A run that fails if it contains one of these items, and a record of its calls. */
function failingOn(bad: readonly number[]) {
  const runs: string[] = []
  const run = (items: readonly number[]) => {
    runs.push(items.join(' '))
    if (items.some((item) => bad.includes(item))) throw new Error(`rejected ${items.join(' ')}`)
    return items.map((item) => item * 2)
  }
  return { run, runs }
}

const rows = [
  { size: 1, bad: [1], runs: ['1'] },
  { size: 2, bad: [1], runs: ['1 2', '1', '2'] },
  { size: 3, bad: [2], runs: ['1 2 3', '1 2', '1', '2', '3'] },
  { size: 4, bad: [4], runs: ['1 2 3 4', '1 2', '3 4', '3', '4'] },
  { size: 5, bad: [3], runs: ['1 2 3 4 5', '1 2 3', '1 2', '3', '4 5'] },
  { size: 8, bad: [5], runs: ['1 2 3 4 5 6 7 8', '1 2 3 4', '5 6 7 8', '5 6', '5', '6', '7 8'] },
  { size: 4, bad: [1, 4], runs: ['1 2 3 4', '1 2', '1', '2', '3 4', '3', '4'] },
]

function outcomesOf(size: number, bad: readonly number[]): (number | string)[] {
  return numbers(size).map((item) => (bad.includes(item) ? `rejected ${item}` : item * 2))
}

function numbers(size: number): number[] {
  return Array.from({ length: size }, (_, index) => index + 1)
}

async function settleAll(calls: Promise<number>[]): Promise<(number | string)[]> {
  return Promise.all(calls.map((call) => call.catch((error: Error) => error.message)))
}

test.each(rows)('halves a batch of $size until $bad are isolated', async ({ size, bad, runs }) => {
  const failing = failingOn(bad)
  const call = createBatcher<number, number>({
    run: async (items) => failing.run(items),
    maxItems: 100,
    maxInFlight: 1,
    isItemError: () => true,
  })
  expect(await settleAll(numbers(size).map((item) => call(item)))).toEqual(outcomesOf(size, bad))
  expect(failing.runs).toEqual(runs)
})

test.each(rows)('halves a fair batch of $size until $bad are isolated', async ({ size, bad, runs }) => {
  const failing = failingOn(bad)
  const call = createFairBatcher<number, number>({
    run: async (parts) => failing.run(parts.flat()),
    sum: (results) => results.reduce((sum, result) => sum + result, 0),
    maxItems: 100,
    minItems: 1,
    maxMilliseconds: 60,
    now: () => 0,
    share: 100,
    maxInFlight: 1,
    retry: () => 'halves',
  })
  expect(await settleAll(numbers(size).map((item) => call(`key ${item}`, [item])))).toEqual(outcomesOf(size, bad))
  expect(failing.runs).toEqual(runs)
})

test('deduplicates equal items in the order of their first appearance', () => {
  expect(dedupeByKey(['b', 'a', 'B', 'c', 'A'], (item) => item.toLowerCase())).toEqual([
    { item: 'b', indexes: [0, 2] },
    { item: 'a', indexes: [1, 4] },
    { item: 'c', indexes: [3] },
  ])
})
