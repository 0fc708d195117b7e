import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeId, firstIdAt } from '../src/ids.ts'

const time = fc.integer({ min: 0, max: 2 ** 48 - 1 })

test('ids sort by time', () => {
  fc.assert(
    fc.property(time, time, (a, b) => {
      fc.pre(a !== b)
      expect(encodeId('msg', a, randomBytes(10)) < encodeId('msg', b, randomBytes(10))).toBe(a < b)
    }),
  )
})

test('the first id of a time is not after any id made at that time, and after every earlier one', () => {
  fc.assert(
    fc.property(time, (at) => {
      fc.pre(at > 0)
      expect(firstIdAt('msg', new Date(at)) <= encodeId('msg', at, new Uint8Array(10))).toBe(true)
      expect(firstIdAt('msg', new Date(at)) > encodeId('msg', at - 1, new Uint8Array(10).fill(255))).toBe(true)
    }),
  )
})

test('an id is its prefix and 26 characters', () => {
  expect(encodeId('acc', Date.now(), randomBytes(10))).toMatch(/^acc_[0-9a-hjkmnp-tv-z]{26}$/)
})
