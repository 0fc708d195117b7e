import { expect, test } from 'vitest'
import { readWholeNumber } from '../../../src/dashboard/ui/whole-number.ts'

test.each([
  { typed: 1, read: 1 },
  { typed: 1000, read: 1000 },
  { typed: '007', read: 7 },
  { typed: 0, read: undefined },
  { typed: 1001, read: undefined },
  { typed: 2.5, read: undefined },
  { typed: -3, read: undefined },
  { typed: '1.000', read: undefined },
  { typed: '-', read: undefined },
  { typed: '', read: undefined },
])('reads $typed from 1 to 1000 as $read', ({ typed, read }) => {
  expect(readWholeNumber(typed, { min: 1, max: 1000 })).toBe(read)
})
