import { expect, test } from 'vitest'
import { createCallBudget, creationsPerHour } from '../../src/http/limits/call-budget.ts'

test('rejects calls of an account beyond its limit per minute, and no other calls', () => {
  let now = 0
  const spend = createCallBudget(2, () => now)
  spend('acc_1')
  spend('acc_1')

  now = 15_000
  expect(() => spend('acc_1')).toThrow(
    expect.objectContaining({
      code: 'RATE_LIMIT_EXCEEDED',
      message: 'This account may ask WhatsApp for 2 checks and changes per minute. Try again in 45 seconds.',
      retryAfterSeconds: 45,
    }),
  )
  spend('acc_2')

  now = 60_000
  spend('acc_1')
})

test('rejects templates that an account creates beyond its limit per hour', () => {
  let now = 0
  const spend = createCallBudget(1, () => now, creationsPerHour)
  spend('acc_1')

  now = 3_599_999
  expect(() => spend('acc_1')).toThrow(
    expect.objectContaining({
      message: 'This account may create 1 templates per hour. Try again in 1 seconds.',
      retryAfterSeconds: 1,
    }),
  )

  now = 3_600_000
  spend('acc_1')
})

test('measures the minute with its own clock', () => {
  const spend = createCallBudget(1)
  spend('acc_1')
  expect(() => spend('acc_1')).toThrow(expect.objectContaining({ code: 'RATE_LIMIT_EXCEEDED' }))
})
