import { expect, test } from 'vitest'
import { errorFactsWithValues } from '../../contracts/facts/errors.ts'
import { budgetRules, createBudgets } from '../../src/pipeline/budgets.ts'

function callOf(accountId: string, email = 'ada@example.com') {
  return { accountId, actor: () => email }
}

test('rejects calls of an account beyond its limit per minute, and no other calls', () => {
  let now = 0
  const spend = createBudgets(budgetRules, () => now)
  for (let n = 0; n < 30; n++) spend('checks', callOf('acc_1'))

  now = 15_000
  expect(() => spend('checks', callOf('acc_1'))).toThrow(
    expect.objectContaining({
      code: 'RATE_LIMIT_EXCEEDED',
      message: 'This account may ask WhatsApp for 30 checks and changes per minute. Try again in 45 seconds.',
      retryAfterSeconds: 45,
    }),
  )
  spend('checks', callOf('acc_2'))

  now = 60_000
  spend('checks', callOf('acc_1'))
})

test('counts checks and creations towards one limit per minute', () => {
  const spend = createBudgets(budgetRules, () => 0)
  for (let n = 0; n < 15; n++) {
    spend('checks', callOf('acc_1'))
    spend('creations', callOf('acc_1'))
  }
  expect(() => spend('creations', callOf('acc_1'))).toThrow('30 checks and changes per minute')
})

test('rejects templates that an account creates beyond its limit per hour', () => {
  let now = 0
  const spend = createBudgets(budgetRules, () => now)
  for (let n = 0; n < 100; n++) {
    now = n * 3_000
    spend('creations', callOf('acc_1'))
  }

  now = 3_599_999
  expect(() => spend('creations', callOf('acc_1'))).toThrow(
    expect.objectContaining({
      message: 'This account may create 100 templates per hour. Try again in 1 seconds.',
      retryAfterSeconds: 1,
    }),
  )

  now = 3_600_000
  spend('creations', callOf('acc_1'))
})

test('rejects the tests of an account beyond its hour', () => {
  let now = 0
  const spend = createBudgets(budgetRules, () => now)
  for (let n = 0; n < 30; n++) {
    now = n * 6_000
    spend('tests', callOf('acc_1'))
  }

  now = 186_000
  expect(() => spend('tests', callOf('acc_1'))).toThrow(
    'This account may send 30 tests to its chat and endpoints per hour. Try again in 3414 seconds.',
  )
  spend('tests', callOf('acc_2'))
})

test('gives each user of an account their own emails', () => {
  const spend = createBudgets(budgetRules, () => 0)
  for (let n = 0; n < 10; n++) spend('emails', callOf('acc_1', 'viewer@example.com'))
  expect(() => spend('emails', callOf('acc_1', 'viewer@example.com'))).toThrow(
    'You may test or change your alert emails 10 times per minute.',
  )
  spend('emails', callOf('acc_1', 'owner@example.com'))
})

/** By its own clock. */
function allowOneIn(milliseconds: number): ReturnType<typeof createBudgets> {
  return createBudgets({
    ...budgetRules,
    checks: [{ calls: 1, milliseconds, describe: errorFactsWithValues.budget.checksPerMinute }],
  })
}

test('measures time with its own clock', async () => {
  const [slow, quick] = [allowOneIn(3_600_000), allowOneIn(20)]
  for (const spend of [slow, quick]) spend('checks', callOf('acc_1'))

  await expect.poll(() => quick('checks', callOf('acc_1')), { interval: 1 }).toBeUndefined()
  expect(() => slow('checks', callOf('acc_1'))).toThrow('Try again in')
})
