import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeId, encodeIdsInOrder, firstIdAt } from '../../src/platform/ids.ts'

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
