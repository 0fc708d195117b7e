import { expect, test } from 'vitest'
import { sendMessage } from '../../contracts/api/message.ts'
import { parseInput } from '../../src/http/api/input.ts'

const good = { to: '34600111222', template: 'order_shipped', language: 'en' }
const phoneNumber =
  'must be the country code followed by the number, 7 to 15 digits only: no +, no spaces, no hyphens, no leading zero (for example 34600111222).'

test.each([
  { input: {}, says: 'to: is required. template: is required. language: is required.' },
  { input: { ...good, to: '+34600111222' }, says: `to: ${phoneNumber}` },
  { input: { ...good, to: '34-600-111-222' }, says: `to: ${phoneNumber}` },
  { input: { ...good, to: '34 600111222' }, says: `to: ${phoneNumber}` },
  { input: { ...good, to: '0600111222' }, says: `to: ${phoneNumber}` },
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
  {
    input: { ...good, media: 'x' },
    says: '"media": no such field; known are to, template, language, variables, header, buttons, code, cards, limitedTimeOffer, components, externalId, accountId.',
  },
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
