import { expect, test } from 'vitest'
import { describeExactly, describeRelatively, describeWait } from '../../../src/dashboard/ui/time.ts'
import { findTimeZones, listTimeZones } from '../../../src/dashboard/ui/time-zones.ts'

const now = Date.parse('2026-11-20T12:00:00Z')

test.each([
  { at: '2026-11-20T11:59:58Z', reads: /^just now$/ },
  { at: '2026-11-20T11:55:00Z', reads: /^5 minutes ago$/ },
  { at: '2026-11-19T13:00:00Z', reads: /^23 hours ago$/ },
  { at: '2026-11-20T14:00:00Z', reads: /^in 2 hours$/ },
  { at: '2026-11-21T11:59:58Z', reads: /^in 24 hours$/ },
  { at: '2026-11-18T12:07:00Z', reads: /^Nov 18, 2026, \d+:\d7\s[AP]M$/ },
])('describes $at as $reads at noon on November 20', ({ at, reads }) => {
  expect(describeRelatively(at, now)).toMatch(reads)
})

test('names the time zone of a time like the settings', () => {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()

  expect(describeExactly('2026-11-20T12:00:00Z')).toMatch(new RegExp(`^Nov 20, 2026, .* ${timeZone}$`))
})

test.each([
  [0, 'a minute'],
  [Number.NaN, 'a minute'],
  [1, '1 second'],
  [90, '90 seconds'],
  [91, '2 minutes'],
  [3600, '60 minutes'],
])('describes a wait of %d seconds as %s', (seconds, words) => {
  expect(describeWait(seconds)).toBe(words)
})

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
