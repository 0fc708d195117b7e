import { expect, test } from 'vitest'
import { eraseWamids, matchNumber, matchNames } from '../../../src/messages/erasure/number.ts'

const { erase } = matchNumber('34600111222')
const wamidOf = (text: string) => `wamid.${Buffer.from(text, 'latin1').toString('base64')}`

test.each([
  ['34600111222', 'erased'],
  ['+34600111222', 'erased'],
  ['0034600111222', 'erased'],
  ['call +34 600 111 222 now', 'call erased now'],
  ['(34) 600-111-222', '(erased'],
  ['order-34600111222-1', 'order-erased-1'],
  ['customer34600111222x', 'customererasedx'],
  ['?to=%2B34600111222&x=%2034600111222', '?to=%2Berased&x=%20erased'],
  ['34600111222 and 34600111222', 'erased and erased'],
  ['{"to":"34600111222","n":[34600111222,1.50]}', '{"to":"erased","n":["erased",1.5]}'],
  ['{"34600111222":true,"a":34600111222}', '{"erased":true,"a":"erased"}'],
  ['{"a": 1.50, "to": "+34600111222"}', '{"a": 1.50, "to": "erased"}'],
  [' [34600111222]', '["erased"]'],
  ['{"a":{"b":[34600111222,null,false,"x"]}}', '{"a":{"b":["erased",null,false,"x"]}}'],
  ['\\u002b34600111222', '\\u002berased'],
  ['34.600.111.222', 'erased'],
  ['34/600/111/222', 'erased'],
  ['34\u2010600\u2015111\u2013222', 'erased'],
  ['34 - 600111222', 'erased'],
  ['34600111222 [1]', 'erased [1]'],
  ['{"cut off": 34600111222, "re', '{"cut off": erased, "re'],
  [wamidOf('\x1c\x18\x0b34600111222\x15\x02\x00'), ''],
  [wamidOf('\x1c\x0b34600111222\x15\x02\x00'), ''],
  [wamidOf('\x0b34600111222'), ''],
])('erases the number from %j', (text, expected) => {
  expect(erase(text)).toBe(expected)
})

test.each([
  '346001112223',
  '134600111222',
  '3460011122',
  '4600111222',
  '00134600111222',
  '34600111223',
  wamidOf('\x1c\x18\x0c346001112223\x15\x02\x00'),
  wamidOf('\x1c\x18\x0a3460011122\x15\x02\x00'),
  '{"a":346001112223}',
  '{"a":1.50,"b":[]}',
  '34----600111222',
  '34:600:111:222',
  '34a600111222',
  'wamid.',
  '',
])('leaves %j, which is another number', (text) => {
  expect(erase(text)).toBe(text)
})

test('does not read a date with a time as a number', () => {
  expect(matchNumber('2026112209').erase('2026-11-22T09:30:00.000Z')).toBe('2026-11-22T09:30:00.000Z')
})

test('leaves JSON of a megabyte or more unparsed', () => {
  const long = `{"a":34600111222,"b":"${'x'.repeat(1_000_000)}"}`
  expect(erase(long)).toBe(long.replace('34600111222', 'erased'))
})

test.each([
  '34600111222',
  '+34 600 111 222',
  '34\u2013600-111-222',
  '{"to":34600111222}',
  ...[0, 1, 2, 3].map((offset) => wamidOf(`${'\x1c'.repeat(offset)}34600111222\x15\x02\x00`)),
])('finds %j in stored text', (text) => {
  expect(erase(text)).not.toBe(text)
  expect(text).toMatch(new RegExp(matchNumber('34600111222').pattern))
})

test.each(['order-1042', '34600', wamidOf('\x1c3460011122'), Buffer.from('34600111222').toString('base64')])(
  'does not look at %j, which holds no number',
  (text) => {
    expect(text).not.toMatch(new RegExp(matchNumber('34600111222').pattern))
  },
)

test('erases several numbers', () => {
  const numbers = matchNames(['34600111222', '14155550100'])
  expect(numbers.erase('from 34600111222 to +1 415 555 0100')).toBe('from erased to erased')
  for (const text of ['34600111222', '1 415 555 0100']) expect(text).toMatch(new RegExp(numbers.pattern))
  expect('34600111223').not.toMatch(new RegExp(numbers.pattern))
})

test('erases every wamid, whomever it names', () => {
  expect(eraseWamids('wamid.HBgL+/==: seen, wamid.x-_1 too')).toBe(': seen,  too')
  expect(eraseWamids('wamid')).toBe('wamid')
})
