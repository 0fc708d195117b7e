import { expect, test } from 'vitest'
import { findNumberProblem } from '../../../src/dashboard/ui/number-problem.ts'

test.each([
  { typed: ' ', says: 'Enter your phone number.' },
  { typed: '0034 600 111 222', says: 'Write + in place of 00: +34600111222.' },
  { typed: '0600 111 222', says: 'Write the country code in place of the 0 at the start, such as +34 for Spain.' },
  { typed: '+0600111222', says: 'Write the country code in place of the 0 at the start, such as +34 for Spain.' },
  { typed: '1', says: 'This number has only 1 digit. Enter all of it, with the country code.' },
  { typed: '600 111', says: 'This number has only 6 digits. Enter all of it, with the country code.' },
  { typed: '+34 600 111 222 333 444', says: 'This number has 17 digits, but no number has more than 15.' },
  { typed: '+44 (0)20 7946 0000', says: 'Remove the (0), which is only dialled within the country.' },
  { typed: '+34 600 111 222 ext. 4', says: 'Enter one number with digits only, without an extension.' },
  { typed: '+34 600-111-222', says: undefined },
  { typed: '600111222', says: undefined },
])('says about "$typed": $says', ({ typed, says }) => {
  expect(findNumberProblem(typed)).toBe(says)
})
