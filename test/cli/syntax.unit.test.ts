import { Readable } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatLine, type Line, parseLine, type Syntax } from '../../src/cli/syntax.ts'
import { describeFailure } from '../../src/cli/failure.ts'
import { UnknownSecretKeyError } from '../../src/platform/secrets.ts'
import { readSecrets } from '../../src/cli/input.ts'

const syntax = {
  name: 'example',
  summary: 'An example',
  args: ['ACC'],
  rest: 'MORE',
  options: {
    token: { value: 'T', help: '', required: true },
    header: { value: 'H', help: '', multiple: true },
    flag: { help: '' },
  },
  examples: [],
} satisfies Syntax

test('parses a command the same way after it was sent to another process', () => {
  const word = fc.oneof(fc.string(), fc.constantFrom('-', '--', '--flag', '--token=x', '-x'))
  fc.assert(
    fc.property(word, fc.array(word), word, fc.array(word), fc.boolean(), (arg, rest, token, header, flag) => {
      const options = { token, ...(header.length > 0 && { header }), ...(flag && { flag }) }
      const line = { args: [arg], rest, options, json: false }
      expect(parseLine(syntax, formatLine(line))).toEqual(line)
    }),
  )
})

test('accepts options before, between and after the arguments', () => {
  const line = { args: ['acc_1'], rest: ['a', 'b'], options: { token: 't', flag: true }, json: true }

  expect(parseLine(syntax, ['--flag', 'acc_1', '--json', 'a', '--token', 't', 'b'])).toEqual(line)
})

test.each([
  { argv: ['acc_1', '--token', 'a', '--token', 'b'], says: '--token was given twice.' },
  { argv: ['acc_1', '--token=a', '--token='], says: '--token was given twice.' },
])('rejects an option that would replace an earlier one: $argv', ({ argv, says }) => {
  expect(() => parseLine(syntax, argv)).toThrow(says)
})

test.each([
  { argv: ['acc_1', '--token'], says: /^The value of --token is missing\.$/ },
  { argv: ['acc_1', '--token', '--flag'], says: /^The value of --token is missing\. .* write --token=T\.$/ },
  { argv: ['acc_1', '--token', '-\n'], says: /^The value of --token is missing\. / },
  { argv: ['acc_1', '--token=t', '--flag=yes'], says: /^--flag takes no value\.$/ },
  { argv: ['acc_1', '--tokne', 't'], says: /^Unknown option --tokne\. Did you mean --token\?$/ },
  { argv: ['acc_1', '--__proto__=t'], says: /^Unknown option --__proto__\.$/ },
])('explains what is wrong with $argv', ({ argv, says }) => {
  expect(() => parseLine(syntax, argv)).toThrow(says)
})

test('accepts repeated flags, and options that may be repeated', () => {
  expect(parseLine(syntax, ['acc_1', '--token', 't', '--flag', '--flag', '--header=a', '--header=b'])).toMatchObject({
    options: { token: 't', flag: true, header: ['a', 'b'] },
  })
  expect(parseLine(syntax, ['acc_1', '--token', 't', '--', '--token', 'b'])).toMatchObject({ rest: ['--token', 'b'] })
})

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
    what: 'access is denied',
    message: "EACCES: permission denied, mkdir '/data'",
    code: 'EACCES',
    says: "EACCES: permission denied, mkdir '/data'. Give the user who runs Waybill access, or choose another place: WAYBILL_DATA_DIR names the data folder.",
  },
  {
    what: 'a file is in the place of a folder',
    message: "EEXIST: file already exists, mkdir '/data'",
    code: 'EEXIST',
    says: "EEXIST: file already exists, mkdir '/data'. There is a file where a folder is needed: WAYBILL_DATA_DIR names the data folder.",
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

const withSecrets: Syntax = {
  name: 'webhook add',
  summary: '',
  args: [],
  options: {
    token: { value: 'T', help: '', secret: true },
    header: { value: 'H', help: '', secret: true, multiple: true },
  },
  examples: [],
}

function read(options: Line['options'], input: string): Promise<Line> {
  return readSecrets(withSecrets, { args: [], rest: [], options, json: false }, Readable.from([input]))
}

test.each([
  { given: ['-'], input: 'A: 1\nB: 2\n\nC: 3', becomes: ['A: 1', 'B: 2', 'C: 3'] },
  { given: ['X: 0', '-'], input: 'A: 1\nB: 2\n', becomes: ['X: 0', 'A: 1', 'B: 2'] },
  { given: ['-', 'X: 0', '-'], input: 'A: 1\nB: 2\n', becomes: ['A: 1', 'X: 0', 'B: 2'] },
])('replaces the headers $given with lines of standard input', async ({ given, input, becomes }) => {
  expect((await read({ header: given }, input)).options).toEqual({ header: becomes })
})

test('reads options from standard input in the order of the usage', async () => {
  const { options } = await read({ header: ['-'], token: '-' }, 'secret\nA: 1\nB: 2\n')
  expect(options).toEqual({ token: 'secret', header: ['A: 1', 'B: 2'] })
})

test.each<{ options: Line['options']; input: string; says: string }>([
  { options: { token: '-' }, input: 'secret\nother\n', says: 'more lines' },
  { options: { header: ['-', '-'] }, input: 'A: 1\nB: 2\nC: 3\n', says: 'more lines' },
  { options: { header: ['-'] }, input: '', says: '--header - requires a line' },
  { options: { header: ['-', '-'] }, input: 'A: 1\n', says: '--header - requires a line' },
])('rejects standard input that does not fit $options', async ({ options, input, says }) => {
  await expect(read(options, input)).rejects.toThrow(says)
})
