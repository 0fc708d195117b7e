import { expect, test } from 'vitest'
import {
  lastDays,
  lastHours,
  periodBefore,
  previousMonth,
  previousWeek,
  startOfDay,
  thisMonth,
  toPeriod,
} from '../../../src/messages/queries/periods.ts'

test.each([
  { date: '2026-11-20', timeZone: 'UTC', start: '2026-11-20T00:00:00.000Z' },
  { date: '2026-03-29', timeZone: 'Europe/Madrid', start: '2026-03-28T23:00:00.000Z' },
  { date: '2026-03-30', timeZone: 'Europe/Madrid', start: '2026-03-29T22:00:00.000Z' },
  { date: '2026-11-20', timeZone: 'Asia/Kathmandu', start: '2026-11-19T18:15:00.000Z' },
  { date: '2026-11-20', timeZone: 'Pacific/Kiritimati', start: '2026-11-19T10:00:00.000Z' },
  // Cuba puts clocks forward at midnight, so that the day begins at 01:00, and back from 01:00 to midnight.
  { date: '2026-03-08', timeZone: 'America/Havana', start: '2026-03-08T05:00:00.000Z' },
  { date: '2026-11-01', timeZone: 'America/Havana', start: '2026-11-01T04:00:00.000Z' },
])('starts $date in $timeZone at $start', ({ date, timeZone, start }) => {
  expect(startOfDay(date, timeZone).toISOString()).toBe(start)
})

test.each([
  // Still Sunday in Mexico, and already Monday in Madrid.
  { now: '2026-11-23T02:00:00Z', timeZone: 'America/Mexico_City', week: ['2026-11-09', '2026-11-15'] },
  { now: '2026-11-23T02:00:00Z', timeZone: 'Europe/Madrid', week: ['2026-11-16', '2026-11-22'] },
  { now: '2027-01-06T12:00:00Z', timeZone: 'UTC', week: ['2026-12-28', '2027-01-03'] },
])('the previous week at $now in $timeZone is $week', ({ now, timeZone, week: [from, until] }) => {
  expect(previousWeek(new Date(now), timeZone)).toEqual({ from, until })
})

test.each([
  { now: '2026-12-01T02:00:00Z', timeZone: 'America/Mexico_City', month: ['2026-11-01', '2026-11-30'] },
  { now: '2026-12-01T02:00:00Z', timeZone: 'Europe/Madrid', month: ['2026-12-01', '2026-12-01'] },
])('this month at $now in $timeZone is $month', ({ now, timeZone, month: [from, until] }) => {
  expect(thisMonth(new Date(now), timeZone)).toEqual({ from, until })
})

test.each([
  { now: '2026-12-01T02:00:00Z', timeZone: 'America/Mexico_City', month: ['2026-10-01', '2026-10-31'] },
  { now: '2026-03-31T12:00:00Z', timeZone: 'UTC', month: ['2026-02-01', '2026-02-28'] },
  { now: '2027-01-15T12:00:00Z', timeZone: 'Europe/Madrid', month: ['2026-12-01', '2026-12-31'] },
])('last month at $now in $timeZone is $month', ({ now, timeZone, month: [from, until] }) => {
  expect(previousMonth(new Date(now), timeZone)).toEqual({ from, until })
})

test('compares a running period up to the same time of day, across a change of clocks', () => {
  const now = new Date('2026-03-30T10:00:00Z')
  const period = toPeriod(lastDays(now, 7, 'Europe/Madrid'), now, 'Europe/Madrid')

  const before = periodBefore(period, 'Europe/Madrid')

  expect([before.fromDay, before.untilDay]).toEqual(['2026-03-17', '2026-03-23'])
  // Noon in summer and in winter.
  expect(before.until.toISOString()).toBe('2026-03-23T11:00:00.000Z')
})

test('lists 24 hours that begin with the hours of the time zone', () => {
  const { slots, from } = lastHours(new Date('2026-11-20T12:40:00Z'), 24, 'Asia/Kolkata')

  expect(slots).toHaveLength(24)
  expect(slots.at(-1)).toEqual({ date: '2026-11-20', time: '18:00', start: new Date('2026-11-20T12:30:00Z') })
  expect(from.toISOString()).toBe('2026-11-19T13:30:00.000Z')
})
