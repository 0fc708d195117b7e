import { expect, test } from 'vitest'
import { z } from 'zod'
import { sendMessage } from '../../../contracts/api/message.ts'
import { singleLine } from '../../../contracts/fields.ts'
import { problems, readProblem } from '../../../contracts/facts/problems.ts'
import { parseInput } from '../../../src/http/api/input.ts'

const good = { to: '34600111222', template: 'order_shipped', language: 'en' }
const phoneNumber =
  'must be the country code followed by the number, 7 to 15 digits only: no +, no spaces, no hyphens, no leading zero (for example 34600111222).'

const noRecipient = 'to: is required; for someone who hides the number, set recipient to the user ID instead.'
const known =
  'known are to, recipient, template, language, variables, header, buttons, code, cards, limitedTimeOffer, components, externalId, accountId'

test.each([
  { input: {}, says: `template: is required. language: is required. ${noRecipient}` },
  { input: { ...good, to: '+34600111222' }, says: `to: ${phoneNumber}` },
  { input: { ...good, to: '34-600-111-222' }, says: `to: ${phoneNumber}` },
  { input: { ...good, to: '34 600111222' }, says: `to: ${phoneNumber}` },
  { input: { ...good, to: '0600111222' }, says: `to: ${phoneNumber}` },
  { input: { ...good, to: '3460011122233445' }, says: `to: ${phoneNumber}` },
  { input: { ...good, to: 34600111222 }, says: 'to: must be a string.' },
  { input: { ...good, to: null }, says: 'to: must be a string.' },
  { input: { ...good, template: '' }, says: 'template: must not be empty.' },
  {
    input: { ...good, language: 'en-US' },
    says: 'language: must be a template language code such as en or en_US (with an underscore).',
  },
  { input: { ...good, variables: { '1': 42 } }, says: 'variables.1: must be a string: write "42", not 42.' },
  { input: { ...good, variables: ['Ada'] }, says: 'variables: must be an object.' },
  { input: { ...good, externalId: 'a\u0000b' }, says: 'externalId: must not contain control characters.' },
  { input: { ...good, externalId: 'x'.repeat(256) }, says: 'externalId: must have at most 255 characters.' },
  { input: { ...good, variable: {} }, says: '"variable": no such field; did you mean variables?' },
  { input: { ...good, external_id: 'x' }, says: '"external_id": no such field; did you mean externalId?' },
  { input: { ...good, media: 'x' }, says: `"media": no such field; ${known}.` },
  {
    input: { ...good, to: '1', template: '', foo: 1, variables: { '1': 1, '2': 2, '3': 3 }, externalId: 5 },
    says: `to: ${phoneNumber} template: must not be empty. variables.1: must be a string: write "42", not 42. variables.2: must be a string: write "42", not 42. variables.3: must be a string: write "42", not 42. And 2 more.`,
  },
  {
    input: { externalId: 5, code: 5 },
    says: `template: is required. language: is required. code: must be a string. externalId: must be a string. ${noRecipient}`,
  },
  {
    input: { ...good, variables: { ['x'.repeat(100)]: 5 } },
    says: `variables.${'x'.repeat(70)}: must be a string: write "42", not 42.`,
  },
  { input: { ...good, external_id: 1, bb: 2 }, says: `"external_id", "bb": no such field; ${known}.` },
  { input: { ...good, a: 1, bb: 2 }, says: `"a", "bb": no such field; ${known}.` },
  {
    input: { ...good, a1: 1, a2: 1, a3: 1, a4: 1, a5: 1, a6: 1 },
    says: `"a1", "a2", "a3", "a4", "a5": no such field; ${known}.`,
  },
  { input: { ...good, ['x'.repeat(41)]: 1 }, says: `"${'x'.repeat(40)}": no such field; ${known}.` },
  // With two letters, too many names would be similar.
  { input: { ...good, te: 'x' }, says: `"te": no such field; ${known}.` },
  { input: { ...good, TEM: 'x' }, says: '"TEM": no such field; did you mean template?' },
  { input: { ...good, languageCode: 'x' }, says: '"languageCode": no such field; did you mean language?' },
  {
    input: { ...good, header: { image: { lnk: 'https://example.com/a.png' } } },
    says: '"lnk": no such field in header.image; known are link, mediaId. header.image: must have exactly one of link, mediaId.',
  },
  {
    input: { ...good, cards: [{ headr: 1 }] },
    says: '"headr": no such field in cards[0]; known are header, variables, buttons.',
  },
  { input: { ...good, buttons: [{ index: 1.5 }] }, says: 'buttons[0].index: must be a whole number.' },
  { input: { ...good, buttons: 'x' }, says: 'buttons: must be an array.' },
  { input: { ...good, components: [5] }, says: 'components[0]: must be an object.' },
  { input: [], says: 'The request must be a JSON object.' },
  { input: 'hello', says: 'The request must be a JSON object.' },
  { input: null, says: 'The request must be a JSON object.' },
])('rejects $input: $says', ({ input, says }) => {
  expect(() => parseInput(sendMessage.input, input)).toThrow(
    expect.objectContaining({ code: 'VALIDATION_ERROR', message: says }),
  )
})

test('accepts a valid request unchanged', () => {
  expect(parseInput(sendMessage.input, good)).toEqual(good)
})

test('names the first problem of each field for a form', () => {
  expect(() => parseInput(sendMessage.input, { to: '', variables: { '1': 1 }, foo: 1 })).toThrow(
    expect.objectContaining({
      fields: {
        to: readProblem(problems.phoneNumber()),
        template: { code: 'problem.required' },
        language: { code: 'problem.required' },
        'variables.1': 'must be a string: write "42", not 42',
      },
    }),
  )
})

test.each([
  { input: { to: '', variables: { '1': 1 } }, field: 'to' },
  { input: { ...good, variables: { '1': 'Ada', '2': 2 } }, field: 'variables.2' },
  { input: { ...good, buttons: [{ index: 1.5 }] }, field: 'buttons.0.index' },
  // It may be a one-time code.
  { input: { ...good, variables: { '481516': 5 } }, field: 'variables' },
  { input: { ...good, variables: { 'Ada Lovelace': 5 } }, field: 'variables' },
  { input: [], field: undefined },
])('gives programs the path $field of what is wrong in $input', ({ input, field }) => {
  expect(() => parseInput(sendMessage.input, input)).toThrow(
    expect.objectContaining({ code: 'VALIDATION_ERROR', details: field === undefined ? {} : { field } }),
  )
})

test('reads messages of schemas as facts with their values', () => {
  const name = singleLine(60)
  const [issue] = name.safeParse('a'.repeat(61)).error?.issues ?? []

  expect(issue?.message).toBe('must have at most 60 characters')
  expect(readProblem(issue?.message ?? '')).toEqual({ code: 'problem.atMostCharacters', params: { maxLength: 60 } })
  expect(readProblem('is not valid (invalid input)')).toBe('is not valid (invalid input)')
})

const other = z.strictObject({
  count: z.int(),
  ratio: z.number(),
  text: z.string().min(3),
  flags: z.array(z.boolean()),
  status: z.enum(['sent', 'read']),
})
const valid = { count: 1, ratio: 0.5, text: 'abc', flags: [], status: 'sent' }

test.each([
  { input: { ...valid, count: 1.5 }, says: 'count: must be a whole number.' },
  { input: { ...valid, ratio: 'x' }, says: 'ratio: must be a number.' },
  { input: { ...valid, flags: [1] }, says: 'flags[0]: must be a boolean.' },
  { input: { ...valid, status: 'seen' }, says: 'status: must be one of sent, read.' },
  { input: { ...valid, status: undefined }, says: 'status: is required.' },
  { input: { ...valid, text: 'ab' }, says: 'text: is not valid (too small: expected string to have >=3 characters).' },
])('explains $input with the default message: $says', ({ input, says }) => {
  expect(() => parseInput(other, input)).toThrow(expect.objectContaining({ message: says }))
})

test('reads a set of fields that it knows like one that is new', () => {
  const schema = z
    .strictObject({
      a: z.string(),
      b: z.string().default('b'),
      c: z.string().optional(),
      d: z.string().default('d').optional(),
    })
    .refine(({ c, d }) => c !== d, { path: ['c'], error: 'must differ from d' })
  const sets = [{ a: '1' }, { a: '1', c: '2' }, { c: '2', a: '1' }, { a: '1', b: '2' }, { a: '1', b: '2', d: '3' }]
  for (const given of [...sets, { c: '1', d: '2', a: '3', b: '4' }, ...sets])
    expect(parseInput(schema, given)).toEqual(schema.parse(given))

  expect(() => parseInput(schema, { a: '1', c: 2 })).toThrow('c: must be a string.')
  expect(() => parseInput(schema, { a: '1', c: 'd' })).toThrow('c: must differ from d.')
  expect(() => parseInput(schema, { c: '1', b: '2' })).toThrow('a: is required.')
})
