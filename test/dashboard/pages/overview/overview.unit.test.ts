import { expect, test } from 'vitest'
import { compare } from '../../../../src/dashboard/pages/overview/change.ts'
import {
  describeAverage,
  describeShare,
  listTicks,
  toSteps,
} from '../../../../src/dashboard/pages/overview/statistics.ts'

test.each([
  { part: 0, whole: 0, described: '–' },
  { part: 0, whole: 3, described: '0.0%' },
  { part: 2, whole: 3, described: '66.7%' },
  { part: 1, whole: 1_000_000, described: '0.1%' },
  { part: 999_999, whole: 1_000_000, described: '99.9%' },
  { part: 3, whole: 3, described: '100.0%' },
])('describes $part of $whole as $described', ({ part, whole, described }) => {
  expect(describeShare(part, whole)).toBe(described)
})

const funnel = (delivered: number) => {
  const attempted = 100_000
  return { attempted, accepted: attempted, delivered, read: 0, refused: 0, undelivered: attempted - delivered }
}

test.each([
  // Exactly, 86.849% and 89.15%: 2.301 points.
  { delivered: 86_849, before: 89_150, shown: '86.8%', change: { text: '2.4 points', before: '89.2%' } },
  // Exactly, 86.84% and 89.14%: 2.3 points.
  { delivered: 86_840, before: 89_140, shown: '86.8%', change: { text: '2.3 points', before: '89.1%' } },
  { delivered: 86_849, before: 86_751, shown: '86.8%', change: { text: 'No change' } },
])(
  'a change of $before to $delivered is the difference of the shown shares',
  ({ delivered, before, shown, change }) => {
    expect(describeShare(delivered, 100_000)).toBe(shown)
    expect(compare('delivered', funnel(delivered), funnel(before))).toMatchObject(change)
  },
)

test.each([
  { attempted: 0, ticks: [0, 1, 2, 3, 4] },
  { attempted: 1, ticks: [0, 1, 2, 3, 4] },
  { attempted: 9, ticks: [0, 5, 10] },
  { attempted: 1400, ticks: [0, 500, 1000, 1500] },
  { attempted: 2011, ticks: [0, 1000, 2000, 3000] },
])('chooses round axis steps for $attempted attempted messages', ({ attempted, ticks }) => {
  expect(listTicks([{ attempted }])).toEqual(ticks)
})

test('labels delivery time buckets and omits empty ones at the end', () => {
  const until = [1, 2, 5, 10, 30, 60, 300, 1800, 3600, 21_600, 86_400, undefined]
  const counts = (last: number) =>
    until.map((untilSeconds, index) => ({
      ...(untilSeconds !== undefined && { untilSeconds }),
      count: index === last ? 1 : 0,
    }))
  const labels = (last: number) => toSteps(counts(last)).steps.map(({ label }) => label)

  expect(labels(0)).toEqual(['Under 1 s', '1 to 2 s', '2 to 5 s', '5 to 10 s'])
  expect(labels(11).slice(4)).toEqual([
    '10 to 30 s',
    '30 s to 1 min',
    '1 to 5 min',
    '5 to 30 min',
    '30 min to 1 h',
    '1 to 6 h',
    '6 h to 1 day',
    '1 day or more',
  ])
})

test.each([
  { total: 0, average: '0' },
  { total: 1, average: '< 0.1' },
  { total: 3, average: '0.1' },
  { total: 3_720, average: '124' },
])('describes the average of $total messages in 30 days as $average', ({ total, average }) => {
  expect(describeAverage(total, 30)).toBe(average)
})
