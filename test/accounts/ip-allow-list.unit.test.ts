import fc from 'fast-check'
import { expect, test } from 'vitest'
import { errorFactsWithValues } from '../../contracts/facts/errors.ts'
import {
  networkOf,
  normalizeAddress,
  normalizeAllowListEntry,
  parseAllowList,
} from '../../src/accounts/ip-allow-list.ts'

test.each([
  { entry: '192.0.2.1', becomes: '192.0.2.1' },
  { entry: ' 192.0.2.1 ', becomes: '192.0.2.1' },
  { entry: '192.0.2.77/24', becomes: '192.0.2.0/24' },
  { entry: '::ffff:192.0.2.1', becomes: '192.0.2.1' },
  { entry: '::ffff:192.0.2.0/120', becomes: '192.0.2.0/24' },
  { entry: '64:ff9b::192.0.2.1', becomes: '192.0.2.1' },
  { entry: '64:ff9b::c000:207/120', becomes: '192.0.2.0/24' },
  { entry: '64:ff9b::/95', becomes: '64:ff9b::/95' },
  { entry: '64:ff9b:1::c000:201', becomes: '64:ff9b:1::c000:201' },
  { entry: '2001:DB8:0::1', becomes: '2001:db8::1' },
  { entry: '2001:db8::1/32', becomes: '2001:db8::/32' },
  // A v4-mapped range with a prefix of 96 bits or more contains only IPv4 addresses.
  { entry: '::ffff:0:0/96', becomes: '0.0.0.0/0' },
  { entry: '::ffff:192.0.2.1/96', becomes: '0.0.0.0/0' },
  { entry: '::ffff:192.0.2.1/97', becomes: '128.0.0.0/1' },
  { entry: '::ffff:192.0.2.1/128', becomes: '192.0.2.1/32' },
  // A wider range contains other addresses too.
  { entry: '::ffff:0:0/95', becomes: '::fffe:0:0/95' },
  { entry: '::ffff:192.0.2.1/0', becomes: '::/0' },
  { entry: '0.0.0.0/0', becomes: '0.0.0.0/0' },
  { entry: '192.0.2.1/32', becomes: '192.0.2.1/32' },
  { entry: '192.0.2.255/31', becomes: '192.0.2.254/31' },
  { entry: '2001:db8::ff/128', becomes: '2001:db8::ff/128' },
  { entry: '2001:db8::ff/127', becomes: '2001:db8::fe/127' },
  { entry: '192.0.2.1/024', becomes: '192.0.2.0/24' },
])('normalizes the allow-list entry $entry to $becomes', ({ entry, becomes }) => {
  expect(normalizeAllowListEntry(entry)).toBe(becomes)
})

test.each([
  '',
  'localhost',
  '192.0.2',
  '0xC0.0.2.1',
  '0300.0.2.1',
  '3221225985',
  '192.0.2.1/33',
  '::/129',
  '192.0.2.1/-1',
  '192.0.2.1/24/8',
  '192.0.2.1/',
  '*',
  '192.0.2.1/ 24',
  '192.0.2.1/24 8',
  '192.0.2.1/0x8',
  '192.0.2.1/x8',
  '192.0.2.1/8x',
  '192.0.2.1/1024',
  '192.0.2.1/99',
  '::ffff:192.0.2.1/129',
  '192.0.2.0/24/',
  'example.com/24',
  '/24',
  'fe80::1%eth0',
  'fe80::1%eth0/64',
  '::ffff:0xc0.0.2.1/120',
])('rejects the allow-list entry %j', (entry) => {
  expect(normalizeAllowListEntry(entry)).toBeUndefined()
})

test.each([
  { address: '192.0.2.1', becomes: '192.0.2.1' },
  { address: '::FFFF:192.0.2.1', becomes: '192.0.2.1' },
  { address: '0:0:0:0:0:ffff:192.0.2.1', becomes: '192.0.2.1' },
  { address: '2001:DB8:0:0::1', becomes: '2001:db8::1' },
  { address: '192.0.2.01', becomes: undefined },
  { address: '::ffff:192.0.2.01', becomes: undefined },
  { address: '::ffff:0xc0.0.2.1', becomes: undefined },
  { address: '::ffff:0300.0.2.1', becomes: undefined },
  { address: '192.0.2.1%eth0', becomes: undefined },
  { address: '::ffff:192.0.2.1%eth0', becomes: undefined },
  { address: '2001:db8::1%eth0', becomes: undefined },
  { address: 'fe80::1%eth0', becomes: undefined },
  { address: 'fe80::1%', becomes: undefined },
  { address: '192.0.2', becomes: undefined },
  { address: '3221225985', becomes: undefined },
  { address: 'localhost', becomes: undefined },
  { address: '', becomes: undefined },
])('normalizes the address $address to $becomes', ({ address, becomes }) => {
  expect(normalizeAddress(address)).toBe(becomes)
})

test('normalizes v4-mapped IPv6 addresses to IPv4', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
      const hex = `::ffff:${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
      expect(normalizeAddress(`::ffff:${address}`)).toBe(address)
      expect(normalizeAddress(hex)).toBe(address)
    }),
  )
})

test.each([
  { address: '192.0.2.1', network: '192.0.2.1' },
  { address: '::ffff:192.0.2.1', network: '192.0.2.1' },
  { address: '2001:db8:1:2:3::4', network: '2001:db8:1:2::/64' },
  { address: 'fe80::1:2:3:4', network: 'fe80::/64' },
  { address: '64:ff9b::192.0.2.1', network: '192.0.2.1' },
  { address: '64:ff9b:1::192.0.2.1', network: '64:ff9b:1::c000:201' },
  { address: 'unix:', network: 'unix:' },
  { address: 'unknown', network: 'unknown' },
])('counts $address as the network $network', ({ address, network }) => {
  expect(networkOf(address)).toBe(network)
})

test('leaves a normalized address unchanged', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => {
      const once = normalizeAddress(address)
      expect(once === undefined ? undefined : normalizeAddress(once)).toBe(once)
    }),
  )
})

test('lists each address and range once, in the given order', () => {
  const entries = ['2001:DB8::/32', '192.0.2.7/24', '::ffff:192.0.2.1', '192.0.2.1', '192.0.2.0/24', '2001:db8::/32']
  expect(parseAllowList(entries)).toEqual(['2001:db8::/32', '192.0.2.0/24', '192.0.2.1'])
  expect(parseAllowList([])).toEqual([])
})

test('rejects a list with one invalid entry and names it', () => {
  const message =
    '"192.0.2.1/33" is neither an IP address nor a CIDR range, such as 192.0.2.10, 192.0.2.0/24 or 2001:db8::/32. The allow-list is unchanged.'
  const fact = errorFactsWithValues.noAddress({ value: '"192.0.2.1/33"' })
  expect(() => parseAllowList(['192.0.2.1', '192.0.2.1/33'])).toThrow(
    expect.objectContaining({ code: 'VALIDATION_ERROR', message, fields: { allowList: fact } }),
  )
})
