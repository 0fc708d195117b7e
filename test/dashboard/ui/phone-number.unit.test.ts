import { expect, test } from 'vitest'
import { nameNumber, suggestNumber } from '../../../src/dashboard/ui/phone-number.ts'

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
