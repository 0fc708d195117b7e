import { expect, test } from 'vitest'
import { describeWait } from '../../src/dashboard/api/describe-wait.ts'

test.each([
  [0, 'a minute'],
  [Number.NaN, 'a minute'],
  [1, '1 second'],
  [90, '90 seconds'],
  [91, '2 minutes'],
  [3600, '60 minutes'],
])('%d seconds are %s', (seconds, words) => {
  expect(describeWait(seconds)).toBe(words)
})
