import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type BatchOptions, createBatcher, dedupeByKey, NotStartedError } from '../../src/platform/batch.ts'
import { createFairBatcher } from '../../src/platform/fair-batch.ts'

/** Runs batches that the test ends. */
function openBatches(options: Partial<BatchOptions<number, number>> = {}) {
  const batches: { items: readonly number[]; end: () => void; fail: (error: Error) => void }[] = []
  const call = createBatcher<number, number>({
    run: (items) =>
      new Promise((resolve, reject) => {
        batches.push({ items, end: () => resolve(items.map((item) => item * 2)), fail: reject })
      }),
    maxItems: 3,
    maxInFlight: 1,
    isItemError: () => true,
    ...options,
  })
  return { call, batches, items: () => batches.map((batch) => batch.items) }
}

/** Lets pending callbacks and their consequences run. */
async function turn(): Promise<void> {
  for (let count = 0; count < 2; count++) await new Promise<void>((resolve) => setImmediate(resolve))
}

test('runs a single call immediately', async () => {
  const { call, batches, items } = openBatches()
  const result = call(1)
  await new Promise((resolve) => setImmediate(resolve))
  expect(items()).toEqual([[1]])
  batches[0]?.end()
  expect(await result).toBe(2)
})

test('batches calls that arrive during a running batch, in order and up to the maximum', async () => {
  const { call, batches, items } = openBatches()
  const first = call(1)
  await turn()
  const others = [2, 3, 4, 5].map((item) => call(item))
  await turn()
  expect(items()).toEqual([[1]])

  batches[0]?.end()
  await first
  await turn()
  expect(items()).toEqual([[1], [2, 3, 4]])

  batches[1]?.end()
  await turn()
  batches[2]?.end()
  expect(await Promise.all(others)).toEqual([4, 6, 8, 10])
  expect(items()).toEqual([[1], [2, 3, 4], [5]])
})

test('batches a burst of calls and limits concurrent batches', async () => {
  const { call, items } = openBatches({ maxInFlight: 2 })
  for (let item = 1; item <= 8; item++) void call(item)
  await turn()
  expect(items()).toEqual([
    [1, 2, 3],
    [4, 5, 6],
  ])
})

test('fails the whole batch once on an error that no single item causes', async () => {
  const { call, batches } = openBatches({ isItemError: () => false })
  const calls = [1, 2, 3].map((item) => call(item))
  await turn()
  batches[0]?.fail(new Error('the database is gone'))
  for (const result of await Promise.allSettled(calls)) expect(result.status).toBe('rejected')
  expect(batches).toHaveLength(1)

  const next = call(4)
  await turn()
  batches[1]?.end()
  expect(await next).toBe(8)
})

test('fails all calls if a run returns too few results', async () => {
  const call = createBatcher<number, number>({
    run: (items) => Promise.resolve(items.slice(1)),
    maxItems: 10,
    maxInFlight: 1,
    isItemError: () => true,
  })
  const results = await Promise.allSettled([1, 2, 3].map((item) => call(item)))
  for (const result of results)
    expect(result).toMatchObject({ status: 'rejected', reason: { message: 'a batch of 3 items returned 2 results' } })
})

class BlockedError extends Error {}

/** Items are numbers whose hundreds digit is their group. */
const byHundreds = {
  groupOf: (item: number) => String(Math.floor(item / 100)),
  isBlocked: (error: unknown) => error instanceof BlockedError,
  isItemError: () => false,
  maxItems: 10,
}

test('splits a blocked batch by group and fails only the group that still blocks', async () => {
  const { call, batches, items } = openBatches(byHundreds)
  const calls = [100, 200, 201, 300].map((item) => call(item))
  await turn()
  batches[0]?.fail(new BlockedError('all wait for 200'))
  await turn()
  expect(items()).toEqual([[100, 200, 201, 300], [100], [200, 201]])

  // Meanwhile, other calls run in batches, and those of an isolated group run on their own.
  const meanwhile = [400, 202].map((item) => call(item))
  await turn()
  expect(items().slice(3)).toEqual([[400]])
  batches[3]?.end()
  expect(await meanwhile[0]).toBe(800)

  batches[1]?.end()
  await turn()
  expect(items().slice(4)).toEqual([[300]])
  batches[4]?.end()
  batches[2]?.fail(new BlockedError('200 itself'))
  expect((await Promise.allSettled(calls)).map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'rejected',
    'fulfilled',
  ])

  await turn()
  expect(items().slice(5)).toEqual([[202]])
  batches[5]?.end()
  expect(await meanwhile[1]).toBe(404)
  // Its group is no longer blocked, so its next call shares a batch again.
  const together = [100, 200].map((item) => call(item))
  await turn()
  expect(items().slice(6)).toEqual([[100, 200]])
  batches[6]?.end()
  expect(await Promise.all(together)).toEqual([200, 400])
})

test('isolates a group that stays blocked, even after its calls have failed', async () => {
  const { call, batches, items } = openBatches(byHundreds)
  const first = call(100)
  await turn()
  batches[0]?.fail(new BlockedError('alone in its batch'))
  await expect(first).rejects.toThrow('alone in its batch')
  const calls = [101, 200].map((item) => call(item))
  await turn()
  expect(items().slice(1)).toEqual([[101], [200]])
  batches[2]?.end()
  expect(await calls[1]).toBe(400)
  batches[1]?.fail(new BlockedError('again'))
  await expect(calls[0]).rejects.toThrow('again')
})

test('rejects a call that waits too long and never runs it', async () => {
  const { call, batches, items } = openBatches({ ...byHundreds, maxWaitMilliseconds: 30 })
  const first = call(100)
  await turn()
  const waiting = [101, 102].map((item) => call(item))
  for (const result of await Promise.allSettled(waiting))
    expect(result).toMatchObject({ status: 'rejected', reason: expect.any(NotStartedError) as NotStartedError })

  batches[0]?.fail(new BlockedError('blocked'))
  await expect(first).rejects.toThrow('blocked')
  const isolated = call(103)
  await turn()
  const behind = call(104)
  await expect(behind).rejects.toThrow(NotStartedError)
  batches[1]?.end()
  expect(await isolated).toBe(206)
  await turn()
  expect(items()).toEqual([[100], [103]])
})

const groups = 10

/** An odd number fails unexpectedly; the scenario includes what each caller does. */
const Story = fc.record({
  calls: fc.array(fc.record({ fails: fc.boolean(), blocks: fc.boolean(), startsAfter: fc.nat(6) }), {
    minLength: 1,
    maxLength: 60,
  }),
  maxItems: fc.integer({ min: 1, max: 10 }),
  maxInFlight: fc.integer({ min: 1, max: 3 }),
})

test('returns its own result to each caller, regardless of others in the batch', async () => {
  await fc.assert(
    fc.asyncProperty(Story, async ({ calls, maxItems, maxInFlight }) => {
      let running = 0
      const done: number[] = []
      const call = createBatcher<number, string>({
        run: async (items) => {
          running += 1
          expect(running).toBeLessThanOrEqual(maxInFlight + 2)
          expect(items.length).toBeLessThanOrEqual(maxItems)
          await turn()
          running -= 1
          // Items of a group, given by the last digit, block together.
          if (items.some((item) => calls[item % groups]?.blocks)) throw new BlockedError(`blocked with ${items.join()}`)
          if (items.some((item) => calls[item]?.fails)) throw new Error(`failed with ${items.join()}`)
          done.push(...items)
          return items.map((item) => `result ${item}`)
        },
        maxItems,
        maxInFlight,
        isItemError: () => true,
        groupOf: (item) => String(item % groups),
        isBlocked: (error) => error instanceof BlockedError,
      })
      const outcomes = await Promise.all(
        calls.map(async ({ startsAfter }, index) => {
          for (let turns = 0; turns < startsAfter; turns++) await turn()
          return call(index).catch((error: Error) => error.message)
        }),
      )
      for (const [index, outcome] of outcomes.entries()) {
        const blocks = calls[index % groups]?.blocks ?? false
        const ownGroup = (outcome.match(/\d+/g) ?? []).every((item) => Number(item) % groups === index % groups)
        if (blocks && ownGroup && outcome.startsWith('blocked with')) continue
        const own = calls[index]?.fails ? `failed with ${index}` : `result ${index}`
        expect(blocks).toBe(false)
        expect(outcome).toBe(own)
      }
      expect(new Set(done).size).toBe(done.length)
    }),
    { numRuns: 200 },
  )
})

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
