import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  createRandomPool,
  createRequestIds,
  encodeId,
  encodeIdsInOrder,
  firstIdAt,
  firstRequestIdAt,
  spanOfIdsInOrder,
  timeOfId,
  timeOfRequestId,
} from '../../src/platform/ids.ts'

const time = fc.integer({ min: 0, max: 2 ** 48 - 1 })

test('sorts IDs by time', () => {
  fc.assert(
    fc.property(time, time, (a, b) => {
      fc.pre(a !== b)
      expect(encodeId('msg', a, randomBytes(10)) < encodeId('msg', b, randomBytes(10))).toBe(a < b)
    }),
  )
})

test('returns the lowest ID of a time', () => {
  fc.assert(
    fc.property(time, (at) => {
      fc.pre(at > 0)
      expect(firstIdAt('msg', new Date(at)) <= encodeId('msg', at, new Uint8Array(10))).toBe(true)
      expect(firstIdAt('msg', new Date(at)) > encodeId('msg', at - 1, new Uint8Array(10).fill(255))).toBe(true)
    }),
  )
})

test('builds an ID from a prefix and 26 characters', () => {
  expect(encodeId('acc', Date.now(), randomBytes(10))).toMatch(/^acc_[0-9a-hjkmnp-tv-z]{26}$/)
})

test('generates a batch of IDs in ascending order, starting at its time', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 47 }), fc.integer({ min: 1, max: 10_000 }), (at, count) => {
      const ids = encodeIdsInOrder('evt', at, count, (size) => new Uint8Array(size))
      expect(new Set(ids).size).toBe(count)
      expect(ids.toSorted()).toEqual(ids)
      expect((ids[0] ?? '') >= firstIdAt('evt', new Date(at))).toBe(true)
    }),
    { numRuns: 20, examples: [[0, 4097]] },
  )
})

test.each([
  // The UUID of RFC 9562, A.6: 017F22E2-79B0-7CC3-98C4-DC0C0C07398F.
  {
    at: 0x017f22e279b0,
    random: [0x0c, 0xc3, 0x18, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f],
    id: 'msg_01fwhe4ydgfk1shh6w1g60eecf',
  },
  { at: 0, random: Array<number>(10).fill(0), id: 'msg_0000000000e008000000000000' },
  { at: 2 ** 48 - 1, random: Array<number>(10).fill(255), id: 'msg_7zzzzzzzzzfzzvzzzzzzzzzzzz' },
  // Further random bytes are not used.
  { at: 0, random: Array<number>(12).fill(0), id: 'msg_0000000000e008000000000000' },
])('encodes the UUIDv7 of $at ms as $id', ({ at, random, id }) => {
  expect(encodeId('msg', at, Uint8Array.from(random))).toBe(id)
})

test('reads the time of an ID', () => {
  fc.assert(
    fc.property(time, fc.uint8Array({ minLength: 10, maxLength: 10 }), (at, random) => {
      expect(timeOfId(encodeId('msg', at, random)).getTime()).toBe(at)
    }),
  )
})

test.each([
  '',
  'msg_',
  'msg_01fwhe4ydgfk1shh6w1g60eec',
  'msg_01fwhe4ydgfk1shh6w1g60eecf0',
  'msg_01fwhe4ydgfk1shh6w1g60eeci',
])('reads no time from %j', (id) => {
  expect(() => timeOfId(id)).toThrow(new RangeError('not an id'))
})

test.each([
  { count: 1, milliseconds: 0 },
  { count: 4_096, milliseconds: 0 },
  { count: 4_097, milliseconds: 1 },
  { count: 8_193, milliseconds: 2 },
])('spreads $count IDs over $milliseconds ms', ({ count, milliseconds }) => {
  expect(spanOfIdsInOrder(count)).toBe(milliseconds)
  const ids = encodeIdsInOrder('evt', 1_000, count, (size) => new Uint8Array(size).fill(255))
  expect(timeOfId(ids.at(-1) ?? '').getTime()).toBe(1_000 + milliseconds)
})

test('gives the IDs of one millisecond random ends', () => {
  const ids = encodeIdsInOrder('evt', 1_000, 2, randomBytes)
  const again = encodeIdsInOrder('evt', 1_000, 2, randomBytes)
  expect(new Set([...ids, ...again]).size).toBe(4)
})

test('returns the lowest ID of the epoch for times before it', () => {
  expect(firstIdAt('msg', new Date(-1))).toBe(`msg_${'0'.repeat(26)}`)
})

test('counts requests of a process, in the order of their time', () => {
  const nextId = createRequestIds((size) => new Uint8Array(size).fill(0xab))
  const before = Date.now()
  const ids = Array.from({ length: 40 }, nextId)
  const after = Date.now()

  expect(ids.map((id) => id.slice('req_'.length + 12))).toEqual(
    ids.map((_, index) => `_abababab${(index + 1).toString(36)}`),
  )
  for (const id of ids) {
    expect(timeOfRequestId(id).getTime()).toBeGreaterThanOrEqual(before)
    expect(timeOfRequestId(id).getTime()).toBeLessThanOrEqual(after)
  }
})

test.each([
  { at: 0, bound: 'req_000000000000' },
  { at: -1, bound: 'req_000000000000' },
  { at: 0x019aab34c5d6, bound: 'req_019aab34c5d6' },
])('bounds request IDs of $at ms by $bound', ({ at, bound }) => {
  expect(firstRequestIdAt(new Date(at))).toBe(bound)
  for (const id of [bound, `${bound}_9f86d0811x`]) expect(timeOfRequestId(id).getTime()).toBe(Math.max(0, at))
})

test('returns random bytes of any size, and no byte twice', () => {
  const take = createRandomPool()
  const sizes = [10, 16, 16 * 1024, 16 * 1024 + 1, ...Array<number>(4_000).fill(10)]
  const taken = sizes.map(take)

  expect(taken.map(({ length }) => length)).toEqual(sizes)
  const texts = taken.map((bytes) => Buffer.from(bytes).toString('hex'))
  expect(new Set(texts).size).toBe(texts.length)
  for (const bytes of taken) expect(new Set(bytes).size).toBeGreaterThan(1)
})
