import { expect, test } from 'vitest'
import { NotStartedError } from '../../../src/platform/batch.ts'
import { isDatabaseUnavailable, mayHaveCommitted, isTransient } from '../../../src/platform/db/errors.ts'
import { findConnectProblem, recordConnectFailure } from '../../../src/platform/db/connect/connect-failure.ts'

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
  { code: '28P01', message: 'password authentication failed for user "waybill"', says: 'rejected the password' },
  // Amazon RDS verifies tokens by PAM.
  { code: '28000', message: 'PAM authentication failed for user "waybill"', says: 'rejected the password' },
  { code: '28000', message: 'Peer authentication failed for user "waybill"', says: 'does not accept user' },
  { code: '28000', message: 'no pg_hba.conf entry for host "10.0.0.5"', says: 'does not accept user' },
])('says of "$message" that PostgreSQL $says', ({ code, message, says }) => {
  const error = Object.assign(new Error(message), { code })
  const target = { host: 'db.example.com', port: 5432, database: 'waybill', user: 'waybill' }

  expect(findConnectProblem(recordConnectFailure(error, target))?.message).toContain(says)
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
