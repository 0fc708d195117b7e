import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { readSecrets } from '../../src/cli/input.ts'
import type { Line, Syntax } from '../../src/cli/syntax.ts'

const syntax: Syntax = {
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
  return readSecrets(syntax, { args: [], rest: [], options, json: false }, Readable.from([input]))
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
