import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatLine, parseLine, type Syntax } from '../../src/cli/syntax.ts'

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

test('accepts repeated flags, and options that may be repeated', () => {
  expect(parseLine(syntax, ['acc_1', '--token', 't', '--flag', '--flag', '--header=a', '--header=b'])).toMatchObject({
    options: { token: 't', flag: true, header: ['a', 'b'] },
  })
  expect(parseLine(syntax, ['acc_1', '--token', 't', '--', '--token', 'b'])).toMatchObject({ rest: ['--token', 'b'] })
})
