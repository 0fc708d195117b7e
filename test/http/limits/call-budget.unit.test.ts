import { expect, test } from 'vitest'
import { testEndpoint } from '../../../contracts/dashboard/webhook.ts'
import type { Deps } from '../../../src/deps.ts'
import type { DashboardCall } from '../../../src/http/dashboard/authorize.ts'
import { createCallBudget, creationsPerHour } from '../../../src/http/limits/call-budget.ts'
import { limitTests } from '../../../src/http/limits/test-calls.ts'

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

test('rejects the tests of an account beyond its hour', async () => {
  const { perform } = limitTests({ perMinute: 10, perHour: 2 })({
    name: 'settings.webhook.test',
    contract: testEndpoint,
    perform: () => Promise.resolve('sent'),
  })
  // The limit reads nothing but the account.
  const send = (accountId: string) => perform({} as Deps, { accountId } as DashboardCall, {} as never)

  expect([await send('acc_1'), await send('acc_1')]).toEqual(['sent', 'sent'])
  await expect(send('acc_1')).rejects.toMatchObject({
    code: 'RATE_LIMIT_EXCEEDED',
    message: 'This account may send 2 tests to its chat and endpoints per hour. Try again in 3600 seconds.',
  })
  expect(await send('acc_2')).toBe('sent')
})
