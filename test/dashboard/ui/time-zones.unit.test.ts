import { expect, test } from 'vitest'
import { findTimeZones, listTimeZones } from '../../../src/dashboard/ui/time-zones.ts'

const find = (search: string, current = 'UTC') =>
  findTimeZones(listTimeZones(current), search).map(({ value }) => value)

test.each([
  ['Tenerife', 'Atlantic/Canary'],
  ['las palmas', 'Atlantic/Canary'],
  ['Canarias', 'Atlantic/Canary'],
  ['Atlantic/Canary', 'Atlantic/Canary'],
  ['Bogotá', 'America/Bogota'],
  ['new york', 'America/New_York'],
  ['sao paulo', 'America/Sao_Paulo'],
  ['utc', 'UTC'],
])('finds the time zone of %s', (search, zone) => {
  expect(find(search)).toContain(zone)
})

test('finds the time zones of a country', () => {
  expect(find('spain')).toEqual(expect.arrayContaining(['Europe/Madrid', 'Atlantic/Canary']))
})

test('finds nothing for a place that does not exist', () => {
  expect(find('Atlantis')).toEqual([])
})

test('keeps a time zone that is an alias', () => {
  expect(find('', 'Asia/Calcutta')).toContain('Asia/Calcutta')
  expect(find('').filter((zone) => zone === 'UTC')).toHaveLength(1)
})
