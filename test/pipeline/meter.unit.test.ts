import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type CallCost, createMeter, meterLimits } from '../../src/pipeline/meter.ts'

const limits = { ...meterLimits, workPerMillisecond: 0.25, maxSavedMilliseconds: 10, maxConcurrent: 2, maxWaiting: 2 }
const small: CallCost = { bytes: 300, work: 0, counted: false }
const large: CallCost = { bytes: 64 * 1024, work: 0, counted: false }
const counted: CallCost = { bytes: 300, work: 0, counted: true }

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

test('admits small calls at any rate', () => {
  const meter = createMeter(limits)
  const admitted = Array.from({ length: 100_000 }, () => meter.enter('a', small))
  expect(admitted.filter((waiting) => waiting !== undefined)).toEqual([])
})

test('lets an account wait until it has gained the work that it used, and nobody else', async () => {
  const meter = createMeter(limits)
  void meter.enter('a', large)
  meter.charge('a', 30)

  const order: string[] = []
  void meter.enter('a', large)?.then(() => order.push('a'))
  expect(meter.enter('b', large)).toBeUndefined()
  await vi.advanceTimersByTimeAsync(80)
  expect(order).toEqual([])
  await vi.advanceTimersByTimeAsync(40)
  expect(order).toEqual(['a'])
})

test('does not let an account wait for time in which the process did not run', () => {
  const meter = createMeter(limits)
  void meter.enter('a', small)
  meter.measure('a', small.bytes, () => vi.advanceTimersByTime(5_000))
  expect(meter.enter('a', small)).toBeUndefined()
})

test('charges a large body for the time that it takes', () => {
  const meter = createMeter(limits)
  void meter.enter('a', large)
  meter.measure('a', large.bytes, () => vi.advanceTimersByTime(30))
  expect(meter.enter('a', small)).toBeInstanceOf(Promise)
})

test('runs the counted calls of an account up to its limit, and the next one as soon as one ends', async () => {
  const meter = createMeter(limits)
  expect([meter.enter('a', counted), meter.enter('a', counted)]).toEqual([undefined, undefined])
  let started = false
  void meter.enter('a', counted)?.then(() => (started = true))
  await vi.advanceTimersByTimeAsync(100)
  expect(started).toBe(false)
  expect(meter.enter('b', counted)).toBeUndefined()

  meter.leave('a')
  await vi.advanceTimersByTimeAsync(1)
  expect(started).toBe(true)
})

test('holds the calls of an account while its clients leave too many bytes unread', async () => {
  const meter = createMeter(limits)
  meter.addUnread('a', limits.maxUnreadBytes)
  let started = false
  void meter.enter('a', small)?.then(() => (started = true))
  await vi.advanceTimersByTimeAsync(100)
  expect(started).toBe(false)

  meter.addUnread('a', -1)
  await vi.advanceTimersByTimeAsync(1)
  expect(started).toBe(true)
})

test('rejects a call that has waited too long, and at once if too many wait', async () => {
  const meter = createMeter(limits)
  void meter.enter('a', small)
  meter.charge('a', 10_000)
  const waiting = [meter.enter('a', small), meter.enter('a', small)].map((call) =>
    expect(call).rejects.toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds: 1 }),
  )
  expect(() => meter.enter('a', small)).toThrow('too many concurrent or too large requests')
  await vi.advanceTimersByTimeAsync(limits.maxWaitMilliseconds)
  await Promise.all(waiting)
})
