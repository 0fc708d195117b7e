import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type CallCost, createWorkLimiter, workLimits } from '../../src/pipeline/work-limiter.ts'

const limits = { ...workLimits, workPerMillisecond: 0.25, maxCreditMilliseconds: 10, maxConcurrent: 2, maxWaiting: 2 }
const small: CallCost = { bytes: 300, work: 0, counted: false }
const large: CallCost = { bytes: 64 * 1024, work: 0, counted: false }
const counted: CallCost = { bytes: 300, work: 0, counted: true }

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

test('admits small calls at any rate', () => {
  const limiter = createWorkLimiter(limits)
  const admitted = Array.from({ length: 100_000 }, () => limiter.acquire('a', small))
  expect(admitted.filter((waiting) => waiting !== undefined)).toEqual([])
})

test('lets an account wait until it has gained the work that it used, and nobody else', async () => {
  const limiter = createWorkLimiter(limits)
  void limiter.acquire('a', large)
  limiter.charge('a', 30)

  const order: string[] = []
  void limiter.acquire('a', large)?.then(() => order.push('a'))
  expect(limiter.acquire('b', large)).toBeUndefined()
  await vi.advanceTimersByTimeAsync(80)
  expect(order).toEqual([])
  await vi.advanceTimersByTimeAsync(40)
  expect(order).toEqual(['a'])
})

test('does not let an account wait for time in which the process did not run', () => {
  const limiter = createWorkLimiter(limits)
  void limiter.acquire('a', small)
  limiter.measure('a', small.bytes, () => vi.advanceTimersByTime(5_000))
  expect(limiter.acquire('a', small)).toBeUndefined()
})

test('charges a large body for the time that it takes', () => {
  const limiter = createWorkLimiter(limits)
  void limiter.acquire('a', large)
  limiter.measure('a', large.bytes, () => vi.advanceTimersByTime(30))
  expect(limiter.acquire('a', small)).toBeInstanceOf(Promise)
})

test('runs the counted calls of an account up to its limit, and the next one as soon as one ends', async () => {
  const limiter = createWorkLimiter(limits)
  expect([limiter.acquire('a', counted), limiter.acquire('a', counted)]).toEqual([undefined, undefined])
  let started = false
  void limiter.acquire('a', counted)?.then(() => (started = true))
  await vi.advanceTimersByTimeAsync(100)
  expect(started).toBe(false)
  expect(limiter.acquire('b', counted)).toBeUndefined()

  limiter.release('a')
  await vi.advanceTimersByTimeAsync(1)
  expect(started).toBe(true)
})

test('holds the calls of an account while its clients release too many bytes unread', async () => {
  const limiter = createWorkLimiter(limits)
  limiter.addUnread('a', limits.maxUnreadBytes)
  let started = false
  void limiter.acquire('a', small)?.then(() => (started = true))
  await vi.advanceTimersByTimeAsync(100)
  expect(started).toBe(false)

  limiter.addUnread('a', -1)
  await vi.advanceTimersByTimeAsync(1)
  expect(started).toBe(true)
})

test('rejects a call that has waited too long, and at once if too many wait', async () => {
  const limiter = createWorkLimiter(limits)
  void limiter.acquire('a', small)
  limiter.charge('a', 10_000)
  const waiting = [limiter.acquire('a', small), limiter.acquire('a', small)].map((call) =>
    expect(call).rejects.toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds: 1 }),
  )
  expect(() => limiter.acquire('a', small)).toThrow('too many concurrent or too large requests')
  await vi.advanceTimersByTimeAsync(limits.maxWaitMilliseconds)
  await Promise.all(waiting)
})
