import { expect, test } from 'vitest'
import { describeFailure } from '../../src/cli/failure.ts'
import { UnknownSecretKeyError } from '../../src/platform/secrets.ts'

test('reports once where to add a missing secret key', () => {
  expect(describeFailure(new UnknownSecretKeyError('1a2b3c4d'))).toEqual({
    error:
      'A stored secret was encrypted with key 1a2b3c4d, which WAYBILL_SECRET_KEY does not contain. Add that key to it, after its first key and a comma.',
    exitCode: 1,
  })
})

test('does not blame the connection for a statement that took too long', () => {
  const canceled = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' })

  expect(describeFailure(canceled).error).toMatch(/took too long \(DATABASE_STATEMENT_TIMEOUT\)/)
})
