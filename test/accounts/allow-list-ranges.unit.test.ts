import { expect, test } from 'vitest'
import { networkOf, normalizeAddress, normalizeAllowListEntry } from '../../src/accounts/ip-allow-list.ts'

test.each([
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
])('normalizes the range $entry to $becomes', ({ entry, becomes }) => {
  expect(normalizeAllowListEntry(entry)).toBe(becomes)
})

test.each([
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
])('rejects the range %j', (entry) => {
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

test.each([
  { address: '192.0.2.1', network: '192.0.2.1' },
  { address: '::ffff:192.0.2.1', network: '192.0.2.1' },
  { address: '2001:db8:1:2:3::4', network: '2001:db8:1:2::/64' },
  { address: 'fe80::1:2:3:4', network: 'fe80::/64' },
  { address: 'unix:', network: 'unix:' },
  { address: 'unknown', network: 'unknown' },
])('maps $address to the network $network', ({ address, network }) => {
  expect(networkOf(address)).toBe(network)
})
