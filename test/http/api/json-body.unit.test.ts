import { expect, test } from 'vitest'
import { parseJsonBody } from '../../../src/http/api/input.ts'

const json = { contentType: 'application/json', contentEncoding: undefined }

/** JSON that stays well-formed when invalid bytes are replaced by U+FFFD. */
function withBytes(...bytes: number[]): Buffer {
  return Buffer.concat([Buffer.from('{"to":"'), Buffer.from(bytes), Buffer.from('"}')])
}

test.each([
  { what: 'a lone continuation byte', body: withBytes(0x80) },
  { what: 'Latin-1', body: withBytes(0xe9) },
  { what: 'a truncated sequence', body: withBytes(0xe2, 0x82) },
  { what: 'an overlong slash', body: withBytes(0xc0, 0xaf) },
  { what: 'a surrogate', body: withBytes(0xed, 0xa0, 0x80) },
  { what: 'a code point past U+10FFFF', body: withBytes(0xf4, 0x90, 0x80, 0x80) },
])('rejects $what as invalid UTF-8', ({ body }) => {
  expect(() => parseJsonBody(body, json)).toThrow(
    expect.objectContaining({ code: 'VALIDATION_ERROR', message: 'The request body is not valid UTF-8.' }),
  )
})

test.each([
  { what: 'text of two, three and four bytes', body: withBytes(...Buffer.from('é€🦊')), to: 'é€🦊' },
  { what: 'U+FFFD itself', body: withBytes(0xef, 0xbf, 0xbd), to: '\uFFFD' },
  {
    what: 'a body with a byte order mark',
    body: Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), withBytes(0x41)]),
    to: 'A',
  },
])('parses $what', ({ body, to }) => {
  expect(parseJsonBody(body, json)).toEqual({ to })
})

test.each([
  { body: '{"to":x}', message: 'The request body is not valid JSON.' },
  { body: '{"to":', message: 'The request body is not valid JSON: syntax error at the end.' },
  { body: '{to: "1"}', message: 'The request body is not valid JSON: syntax error at character 1.' },
  { body: '{"to":"1",}', message: 'The request body is not valid JSON: syntax error at character 10.' },
  { body: '', message: 'The request body is empty: it must be a JSON object.' },
])('reports where $body breaks', ({ body, message }) => {
  expect(() => parseJsonBody(Buffer.from(body), json)).toThrow(
    expect.objectContaining({ code: 'VALIDATION_ERROR', message }),
  )
})

test.each([
  'application/json',
  'Application/JSON',
  'application/json;charset=utf-8',
  'application/json; charset=UTF-8',
  'application/json ; charset="utf8"',
  'application/json; version=1; charset=utf-8',
  'application/json; version=1',
])('accepts the content type %j', (contentType) => {
  expect(parseJsonBody(Buffer.from('{}'), { contentType, contentEncoding: 'identity' })).toEqual({})
})

test('reads the name of a content coding in any case', () => {
  const headers = { contentType: 'application/json', contentEncoding: 'Identity' }
  expect(parseJsonBody(Buffer.from('{}'), headers)).toEqual({})
})

test.each([
  undefined,
  '',
  'text/plain',
  'application/json+x',
  'application/xml; charset=utf-8',
  'application/json; charset=latin1',
  'application/json; charset=',
])('rejects the content type %j', (contentType) => {
  expect(() => parseJsonBody(Buffer.from('{}'), { ...json, contentType })).toThrow(
    expect.objectContaining({
      code: 'UNSUPPORTED_MEDIA_TYPE',
      message: 'The request body must be JSON in UTF-8: send the header Content-Type: application/json.',
    }),
  )
})

test.each(['gzip', 'br', '', 'identity, gzip'])('rejects the content encoding %j', (contentEncoding) => {
  expect(() => parseJsonBody(Buffer.from('{}'), { ...json, contentEncoding })).toThrow(
    expect.objectContaining({
      code: 'UNSUPPORTED_MEDIA_TYPE',
      message: 'The request body must not be compressed: send it without Content-Encoding.',
    }),
  )
})

test.each([undefined, null, {}, '{}'])('treats the missing body %j as empty', (body) => {
  expect(() => parseJsonBody(body, json)).toThrow(
    expect.objectContaining({
      code: 'VALIDATION_ERROR',
      message: 'The request body is empty: it must be a JSON object.',
    }),
  )
})

test('removes only one byte order mark', () => {
  expect(() => parseJsonBody(Buffer.from('\uFEFF\uFEFF{}'), json)).toThrow('The request body is not valid JSON')
  expect(parseJsonBody(Buffer.from('"\uFEFF"'), json)).toBe('\uFEFF')
})
