import { expect, test } from 'vitest'
import { createCallBudget } from '../../src/http/limits/call-budget.ts'

test('rejects the calls of an account beyond its minute, and nobody else', () => {
  let now = 0
  const spend = createCallBudget(2, () => now)
  spend('acc_1')
  spend('acc_1')

  now = 15_000
  expect(() => spend('acc_1')).toThrow(expect.objectContaining({ code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds: 45 }))
  spend('acc_2')

  now = 60_000
  spend('acc_1')
})
