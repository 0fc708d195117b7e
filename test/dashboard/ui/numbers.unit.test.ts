import { expect, test } from 'vitest'
import { findNumberProblem } from '../../../src/dashboard/ui/number-problem.ts'
import { nameNumber, suggestNumber } from '../../../src/dashboard/ui/phone-number.ts'
import { readWholeNumber } from '../../../src/dashboard/ui/whole-number.ts'

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

test.each([
  { displayPhoneNumber: '+34 911 23 45 67', name: '+34911234567' },
  { displayPhoneNumber: '+1 555-010-0000', name: '+15550100000' },
  { displayPhoneNumber: undefined, name: '1060' },
])('shows the number $displayPhoneNumber of an account as $name', ({ displayPhoneNumber, name }) => {
  expect(nameNumber({ displayPhoneNumber, phoneNumberId: '1060' })).toBe(name)
})

test.each([
  { typed: '600 111 222', own: '+34 911 23 45 67', suggested: '+34600111222' },
  { typed: '06 12 34 56 78', own: '+33 1 23 45 67 89', suggested: '+33612345678' },
  { typed: '(415) 555-0123', own: '+1 555-010-0000', suggested: '+14155550123' },
  { typed: '912 345 678', own: '+351 21 123 4567', suggested: '+351912345678' },
  { typed: '34600111222', own: '+34 911 23 45 67', suggested: undefined },
  { typed: '+600111222', own: '+34 911 23 45 67', suggested: undefined },
  { typed: '00600111222', own: '+34 911 23 45 67', suggested: undefined },
  { typed: '600 111', own: '+34 911 23 45 67', suggested: undefined },
  { typed: '600111222', own: undefined, suggested: undefined },
  { typed: '', own: '+34 911 23 45 67', suggested: undefined },
])('suggests $suggested for $typed beside the own number $own', ({ typed, own, suggested }) => {
  expect(suggestNumber(typed, own)).toBe(suggested)
})

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
