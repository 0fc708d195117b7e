import { expect, test } from 'vitest'
import { matchNumber } from '../../src/messages/erasure/number.ts'

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
])('leaves %j, which is another number', (text) => {
  expect(erase(text)).toBe(text)
})

test('does not read a date with a time as a number', () => {
  expect(matchNumber('2026112209').erase('2026-11-22T09:30:00.000Z')).toBe('2026-11-22T09:30:00.000Z')
})
