import { expect, test } from 'vitest'
import { nameNumber } from '../../../src/dashboard/ui/phone-number.ts'

test.each([
  { displayPhoneNumber: '+34 911 23 45 67', name: '+34911234567' },
  { displayPhoneNumber: '+1 555-010-0000', name: '+15550100000' },
  { displayPhoneNumber: undefined, name: '1060' },
])('shows the number $displayPhoneNumber of an account as $name', ({ displayPhoneNumber, name }) => {
  expect(nameNumber({ displayPhoneNumber, phoneNumberId: '1060' })).toBe(name)
})
