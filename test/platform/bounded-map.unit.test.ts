import { expect, test } from 'vitest'
import { BoundedMap } from '../../src/platform/bounded-map.ts'

test('drops the oldest entry when a new key exceeds the bound', () => {
  const map = new BoundedMap<string, number>(2)
  map.set('a', 1).set('b', 2).set('c', 3)
  expect([...map]).toEqual([
    ['b', 2],
    ['c', 3],
  ])
})

test('keeps every entry when a known key gets a new value', () => {
  const map = new BoundedMap<string, number>(2)
  map.set('a', 1).set('b', 2).set('a', 3)
  expect([...map]).toEqual([
    ['a', 3],
    ['b', 2],
  ])
})
