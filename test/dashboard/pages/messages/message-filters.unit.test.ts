import { expect, test } from 'vitest'
import { ViewFilters } from '../../../../contracts/dashboard/view.ts'
import {
  noFilters,
  readFilters,
  toListInput,
  writeFilters,
} from '../../../../src/dashboard/pages/messages/message-filters.ts'

const now = new Date(2026, 10, 23, 15, 42)
const timeOf = (range: 'today' | 'yesterday' | '24h' | 'month' | 'previousMonth') =>
  toListInput({ ...noFilters, range }, now)

test('uses calendar days of the reader for today, yesterday, this month and last month', () => {
  const [yesterday, today] = [new Date(2026, 10, 22).toISOString(), new Date(2026, 10, 23).toISOString()]
  expect(timeOf('today')).toEqual({ from: today })
  expect(timeOf('month')).toEqual({ from: new Date(2026, 10, 1).toISOString() })
  expect(timeOf('previousMonth')).toEqual({
    from: new Date(2026, 9, 1).toISOString(),
    until: new Date(2026, 10, 1).toISOString(),
  })
  expect(timeOf('yesterday')).toEqual({ from: yesterday, until: today })
})

test('ends the last 24 hours now', () => {
  expect(timeOf('24h')).toEqual({ from: new Date(2026, 10, 22, 15, 42).toISOString() })
})

test('restores a range from the URL', () => {
  const filters = { ...noFilters, range: 'yesterday', errorCode: '131026' } as const
  expect(readFilters(writeFilters(filters))).toEqual(filters)
})

test('restores a country from the URL, and ignores invalid values', () => {
  const filters = { ...noFilters, country: 'ES' }
  expect(readFilters(writeFilters(filters))).toEqual(filters)
  expect(readFilters(new URLSearchParams('country=Spain'))).toEqual(noFilters)
})

test('restores the kind of failure from the URL without a status', () => {
  const filters = { ...noFilters, status: 'failed', failure: 'rejected', whatsAppAccountId: 'wa_1' } as const
  expect(readFilters(writeFilters(filters))).toEqual(filters)
  expect(readFilters(new URLSearchParams('failure=rejected'))).toMatchObject({ status: 'failed', failure: 'rejected' })
  expect(readFilters(new URLSearchParams('failure=else'))).toEqual(noFilters)
})

test('has the filters that a saved view can have', () => {
  expect(Object.keys(noFilters).toSorted()).toEqual(Object.keys(ViewFilters.shape).toSorted())
})
