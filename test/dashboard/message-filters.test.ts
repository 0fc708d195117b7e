import { expect, test } from 'vitest'
import {
  noFilters,
  readFilters,
  toListInput,
  writeFilters,
} from '../../src/dashboard/pages/messages/message-filters.ts'

const now = new Date(2026, 10, 23, 15, 42)
const timeOf = (range: 'today' | 'yesterday' | '24h') => toListInput({ ...noFilters, range }, now)

test('today and yesterday are calendar days of the reader', () => {
  const [yesterday, today] = [new Date(2026, 10, 22).toISOString(), new Date(2026, 10, 23).toISOString()]
  expect(timeOf('today')).toEqual({ from: today })
  expect(timeOf('yesterday')).toEqual({ from: yesterday, until: today })
})

test('the last 24 hours end now', () => {
  expect(timeOf('24h')).toEqual({ from: new Date(2026, 10, 22, 15, 42).toISOString() })
})

test('a range survives in the address', () => {
  const filters = { ...noFilters, range: 'yesterday', errorCode: '131026' } as const
  expect(readFilters(writeFilters(filters))).toEqual(filters)
})

test('a country survives in the address, and nothing else in its place', () => {
  const filters = { ...noFilters, country: 'ES' }
  expect(readFilters(writeFilters(filters))).toEqual(filters)
  expect(readFilters(new URLSearchParams('country=Spain'))).toEqual(noFilters)
})

test('how a message failed survives in the address, which needs no status for it', () => {
  const filters = { ...noFilters, status: 'failed', failure: 'rejected', whatsAppAccountId: 'wa_1' } as const
  expect(readFilters(writeFilters(filters))).toEqual(filters)
  expect(readFilters(new URLSearchParams('failure=rejected'))).toMatchObject({ status: 'failed', failure: 'rejected' })
  expect(readFilters(new URLSearchParams('failure=else'))).toEqual(noFilters)
})
