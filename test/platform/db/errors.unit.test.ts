import { expect, test } from 'vitest'
import { NotStartedError } from '../../../src/platform/batch.ts'
import { isDatabaseUnavailable, mayHaveCommitted, isTransient } from '../../../src/platform/db/errors.ts'
import { isPasswordRejected } from '../../../src/platform/db/connect/passwords.ts'

test.each([
  { error: Object.assign(new Error('lock'), { code: '55P03' }), unavailable: true, unknown: false },
  { error: Object.assign(new Error('cancelled'), { code: '57014' }), unavailable: true, unknown: false },
  { error: new NotStartedError('a connection'), unavailable: true, unknown: false },
  { error: new Error('timeout exceeded when trying to connect'), unavailable: true, unknown: false },
  { error: new Error('Query read timeout'), unavailable: true, unknown: true },
  { error: new Error('Connection terminated unexpectedly'), unavailable: true, unknown: true },
  { error: Object.assign(new Error('shutdown'), { code: '57P01' }), unavailable: true, unknown: true },
  { error: Object.assign(new Error('duplicate'), { code: '23505' }), unavailable: false, unknown: false },
])(
  'treats the outcome of a statement as unknown after "$error.message": $unknown',
  ({ error, unavailable, unknown }) => {
    expect(isDatabaseUnavailable(error)).toBe(unavailable)
    expect(mayHaveCommitted(error)).toBe(unknown)
  },
)

test.each([
  { code: '28P01', message: 'password authentication failed for user "waybill"', rejected: true },
  // Amazon RDS verifies tokens by PAM.
  { code: '28000', message: 'PAM authentication failed for user "waybill"', rejected: true },
  { code: '28000', message: 'Peer authentication failed for user "waybill"', rejected: false },
  { code: '28000', message: 'no pg_hba.conf entry for host "10.0.0.5"', rejected: false },
])('"$message" is about the password: $rejected', ({ code, message, rejected }) => {
  expect(isPasswordRejected(Object.assign(new Error(message), { code }))).toBe(rejected)
})

test.each([
  { code: '40P01', passing: true },
  { code: '40001', passing: true },
  { code: '55P03', passing: true },
  { code: '57014', passing: true },
  { code: '23505', passing: false },
])('$code is transient: $passing', ({ code, passing }) => {
  expect(isTransient(Object.assign(new Error('x'), { code }))).toBe(passing)
})
