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

test.each([
  {
    what: 'the disk of the database is full',
    message: 'could not extend file',
    code: '53100',
    says: 'The disk of the database is full. Free some space, and try again.',
  },
  {
    what: 'the disk is full',
    message: 'ENOSPC: no space left on device, write',
    code: 'ENOSPC',
    says: 'ENOSPC: no space left on device, write. The disk is full: free some space, and try again.',
  },
  {
    what: 'the file system is read-only',
    message: "EROFS: read-only file system, open '/data/secret.key'",
    code: 'EROFS',
    says: "EROFS: read-only file system, open '/data/secret.key'. The file system is read-only: make it writable, or set WAYBILL_DATA_DIR to a folder on another one.",
  },
])('says that $what, and what to do', ({ message, code, says }) => {
  expect(describeFailure(Object.assign(new Error(message), { code }))).toEqual({ error: says, exitCode: 1 })
})
