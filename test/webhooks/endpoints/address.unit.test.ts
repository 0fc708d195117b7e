import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  addressOf,
  allowAddresses,
  checkAddress,
  checkEndpointUrl,
  isPublicAddress,
} from '../../../src/webhooks/endpoints/address.ts'

const strict = { allowPrivate: false }

test.each([
  'https://example.com/webhooks',
  'https://example.com.',
  'https://EXAMPLE.com:8443/a?b=c',
  'https://8.8.8.8/',
  'https://[2606:4700::1111]/',
  'https://[64:ff9b::8.8.8.8]/',
  'https://müller.example/',
  'https://local.example.com/',
  'https://example.notlocal/',
  'https://home.example.com/',
  'https://dns.arpa.example.com/',
])('accepts %s', (url) => {
  expect(checkEndpointUrl(url, strict)?.protocol).toBe('https:')
})

test.each([
  'http://example.com/',
  'ftp://example.com/',
  'example.com',
  '',
  'https://',
  'https://user@example.com/',
  'https://user:secret@example.com/',
  'https://:secret@example.com/',
  'https://example.com/#part',
  'https://example.com/#',
  'https://localhost/',
  'https://localhost./',
  'https://LOCALHOST/',
  'https://a.localhost/',
  'https://printer.local/',
  'https://printer.local./',
  'https://metadata.google.internal/',
  'https://router.home.arpa/',
  'https://home.arpa/',
  'https://intranet/',
  'https://intranet./',
  'https://mydomain.localdomain/',
  'https://files.lan/',
  'https://intranet.corp/',
  'https://nas.home/',
  'https://wiki.intranet/',
  'https://ci.private/',
  'https://shop.test/',
  'https://files.invalid/',
  'https://facebookcorewwwi.onion/',
  'https://name.alt/',
  'https://host.service.arpa/',
  'https://_dns.resolver.arpa/',
  'https://ipv4only.arpa/',
  `https://${'a.'.repeat(124)}example/`,
  `https://${'a'.repeat(64)}.example/`,
  'https://127.0.0.1/',
  'https://127.0.0.1./',
  'https://127.1/',
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0x7f.1/',
  'https://0177.0.0.1/',
  'https://1２7.0.0.1/',
  'https://127。0。0。1/',
  'https://①②⑦.⓪.⓪.①/',
  'https://%31%32%37.0.0.1/',
  'https://0/',
  'https://169.254.169.254/latest/meta-data',
  'https://168.63.129.16/',
  'https://[::]/',
  'https://[::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:8.8.8.8]/',
  'https://[::8.8.8.8]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[64:ff9b:1::1]/',
  'https://[2002:7f00:1::]/',
  'https://[2001::1]/',
  'https://[2001:db8::1]/',
  'https://[3fff::1]/',
  'https://[fec0::1]/',
  'https://[fe80::1]/',
  'https://[fe80::1%25eth0]/',
  'https://[fd00:ec2::254]/',
  'https://[ff02::1]/',
  'https://[100::1]/',
  'https://[5f00::1]/',
])('rejects %s', (url) => {
  expect(checkEndpointUrl(url, strict)).toBeUndefined()
})

test('accepts http and private addresses for development but no credentials', () => {
  expect(checkEndpointUrl('http://127.0.0.1:4000/hook', { allowPrivate: true })?.port).toBe('4000')
  expect(checkEndpointUrl('http://localhost/', { allowPrivate: true })).toBeDefined()
  expect(checkEndpointUrl('https://localhost/', { allowPrivate: true })).toBeDefined()
  expect(checkEndpointUrl('http://a:b@localhost/', { allowPrivate: true })).toBeUndefined()
  expect(checkEndpointUrl('file:///etc/passwd', { allowPrivate: true })).toBeUndefined()
})

const specialRanges = [
  [0, 8],
  [10 << 24, 8],
  [(100 << 24) | (64 << 16), 10],
  [127 << 24, 8],
  [(169 << 24) | (254 << 16), 16],
  [(172 << 24) | (16 << 16), 12],
  [192 << 24, 24],
  [(192 << 24) | (168 << 16), 16],
  [(198 << 24) | (18 << 16), 15],
  [224 << 24, 4],
  [240 << 24, 4],
] as const

/** A numeric address in one of the ranges. */
const special = fc
  .tuple(fc.constantFrom(...specialRanges), fc.integer({ min: 0, max: 0xffff_ffff }))
  .map(([[network, bits], host]) => ((network >>> 0) + (host & (2 ** (32 - bits) - 1) & 0xffff_ffff)) >>> 0)
const bytesOf = (address: number) => [24, 16, 8, 0].map((shift) => (address >>> shift) & 255)
const dotted = (address: number) => bytesOf(address).join('.')
const wide = (text: string) => text.replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)))
const radix = (byte: number, base: number) =>
  base === 16 ? `0x${byte.toString(16)}` : base === 8 ? `0${byte.toString(8)}` : String(byte)
const hextets = (address: number) => `${(address >>> 16).toString(16)}:${(address & 0xffff).toString(16)}`

/** Ways in which a URL can contain an IPv4 address, including embedding it in IPv6. */
const spellings: ((address: number, bases: number[]) => string)[] = [
  dotted,
  (address) => `${dotted(address)}.`,
  (address) => wide(dotted(address)),
  (address) => dotted(address).replaceAll('.', '。'),
  (address) => dotted(address).replaceAll('.', '%2e'),
  (address) => String(address),
  (address) => `0x${address.toString(16)}`,
  (address) => `0X${address.toString(16).toUpperCase()}`,
  (address) => `0${address.toString(8)}`,
  (address, bases) =>
    bytesOf(address)
      .map((byte, index) => radix(byte, bases[index] ?? 10))
      .join('.'),
  (address, bases) => [radix(address >>> 24, bases[0] ?? 10), radix(address & 0xff_ffff, bases[1] ?? 10)].join('.'),
  (address, bases) =>
    [address >>> 24, (address >>> 16) & 255, address & 0xffff]
      .map((part, index) => radix(part, bases[index] ?? 10))
      .join('.'),
  (address) => `[::ffff:${dotted(address)}]`,
  (address) => `[::ffff:${hextets(address)}]`,
  (address) => `[0:0:0:0:0:FFFF:${hextets(address)}]`,
  (address) => `[::${dotted(address)}]`,
  (address) => `[64:ff9b::${hextets(address)}]`,
  (address) => `[64:ff9b:1::${dotted(address)}]`,
  (address) => `[2002:${hextets(address)}::1]`,
  (address) => `[2001:0:1234::${hextets(~address >>> 0)}]`,
]

test('rejects every spelling of a special address', () => {
  fc.assert(
    fc.property(
      special,
      fc.constantFrom(...spellings),
      fc.array(fc.constantFrom(8, 10, 16), { minLength: 4, maxLength: 4 }),
      (address, spell, bases) => {
        expect(checkEndpointUrl(`https://${spell(address, bases)}/hook`, strict)).toBeUndefined()
      },
    ),
    { numRuns: 5_000 },
  )
})

test.each(['fec0', 'fe80', 'fc00', 'fd12', 'ff02', '2001:db8', '2002', '3ffe', '64:ff9b', '100', '5f00', '4000', '0'])(
  'treats no address that begins with %s as public',
  (start) => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 0xffff }), { minLength: 5, maxLength: 5 }), (rest) => {
        expect(isPublicAddress(`${start}::${rest.map((part) => part.toString(16)).join(':')}`)).toBe(false)
      }),
    )
  },
)

test.each(['1.1.1.1', '9.255.255.255', '11.0.0.0', '172.15.0.1', '172.32.0.1', '223.255.255.255', '2a00:1450::1'])(
  'treats %s as public',
  (address) => expect(isPublicAddress(address)).toBe(true),
)

test.each(['127.1', '2130706433', 'example.com', '', '::ffff:8.8.8.8', 'fe80::1%eth0'])(
  'does not treat "%s" as a public address',
  (address) => expect(isPublicAddress(address)).toBe(false),
)

/** The first and the last address of an IPv4 network, and the addresses beside it. */
function edgesOf(range: string) {
  const [network = '', bits] = range.split('/')
  const first = network.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0)
  const last = first + 2 ** (32 - Number(bits)) - 1
  return { range, first: dotted(first), last: dotted(last), around: [dotted(first - 1), dotted(last + 1)] }
}

const surroundedRanges = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
]

test.each([
  ...surroundedRanges.map(edgesOf),
  { range: '0.0.0.0/8', first: '0.0.0.0', last: '0.255.255.255', around: ['1.0.0.0'] },
  { range: '224.0.0.0/4', first: '224.0.0.0', last: '239.255.255.255', around: ['223.255.255.255'] },
  { range: '240.0.0.0/4', first: '240.0.0.0', last: '255.255.255.255', around: [] },
  {
    range: '2001::/23',
    first: '2001::',
    last: '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff',
    around: ['2000:ffff::1', '2001:200::'],
  },
  {
    range: '2001:db8::/32',
    first: '2001:db8::',
    last: '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff',
    around: ['2001:db7:ffff::', '2001:db9::'],
  },
  {
    range: '2002::/16',
    first: '2002::',
    last: '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    around: ['2001:ffff::', '2003::'],
  },
  {
    range: '2620:4f:8000::/48',
    first: '2620:4f:8000::',
    last: '2620:4f:8000:ffff:ffff:ffff:ffff:ffff',
    around: ['2620:4f:7fff::', '2620:4f:8001::'],
  },
  { range: '3ffe::/16', first: '3ffe::', last: '3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff', around: ['3ffd:ffff::'] },
  { range: '3fff::/20', first: '3fff::', last: '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', around: ['3fff:1000::'] },
  { range: 'outside of 2000::/3', first: '1fff:ffff::', last: '4000::', around: ['2000::', '3fff:ffff::'] },
])('treats $range as special, but not the adjacent addresses', ({ first, last, around }) => {
  expect([first, last].map(isPublicAddress)).toEqual([false, false])
  for (const address of around) expect(`${address} ${isPublicAddress(address)}`).toBe(`${address} true`)
})

test.each([
  { host: '127.0.0.1', address: '127.0.0.1' },
  { host: '[::1]', address: '::1' },
  { host: '::1', address: '::1' },
  { host: '[::1', address: undefined },
  { host: '[::12', address: undefined },
  { host: '2::1]', address: undefined },
  { host: 'example.com', address: undefined },
  { host: '', address: undefined },
])('finds the literal address $address in the host "$host"', ({ host, address }) => {
  expect(addressOf(host)).toBe(address)
})

class DnsError extends Error {
  readonly code: string
  constructor(code: string) {
    super('DNS')
    this.code = code
  }
}

const url = 'https://example.com/webhooks'

test.each([
  { what: 'a name with a public address', addresses: ['8.8.8.8'], verdict: 'allowed' },
  { what: 'a name with a private address', addresses: ['10.0.0.1'], verdict: 'refused' },
  { what: 'a name with a public and a private address', addresses: ['8.8.8.8', '10.0.0.1'], verdict: 'refused' },
  { what: 'a name that does not exist', addresses: new DnsError('ENOTFOUND'), verdict: 'refused' },
  { what: 'a name without addresses', addresses: new DnsError('ENODATA'), verdict: 'refused' },
  { what: 'a name whose server does not answer', addresses: new DnsError('ETIMEOUT'), verdict: 'allowed' },
  { what: 'a name whose lookup failed', addresses: new Error('ENOTFOUND'), verdict: 'allowed' },
])('decides on $what: $verdict', async ({ addresses, verdict }) => {
  const resolve = async (host: string) => {
    expect(host).toBe('example.com')
    if (addresses instanceof Error) throw addresses
    return addresses
  }
  expect(await checkAddress(url, { allowPrivate: false, isAllowed: isPublicAddress, resolve })).toBe(verdict)
})

const privateHosts = ['orders.svc.cluster.local', '*.intern.example.com', '10.0.3.7', 'fd00::7']

test.each([
  { text: 'http://orders.svc.cluster.local:8080/webhooks', isAllowed: true },
  { text: 'https://ORDERS.svc.cluster.local./webhooks', isAllowed: true },
  { text: 'http://a.intern.example.com/', isAllowed: true },
  { text: 'http://a.b.intern.example.com/', isAllowed: true },
  { text: 'http://10.0.3.7:8080/', isAllowed: true },
  { text: 'http://0xa.0.3.7/', isAllowed: true },
  { text: 'http://[fd00:0::7]/', isAllowed: true },
  { text: 'https://example.com/', isAllowed: true },
  { text: 'http://example.com/', isAllowed: false },
  { text: 'http://intern.example.com/', isAllowed: false },
  { text: 'http://nointern.example.com/', isAllowed: false },
  { text: 'https://other.svc.cluster.local/', isAllowed: false },
  { text: 'https://orders.svc.cluster.local.evil.lan/', isAllowed: false },
  { text: 'http://user@orders.svc.cluster.local/', isAllowed: false },
  { text: 'ftp://orders.svc.cluster.local/', isAllowed: false },
  { text: 'https://10.0.3.8/', isAllowed: false },
  { text: 'https://[fd00::8]/', isAllowed: false },
])('with private hosts, $text is allowed: $isAllowed', ({ text, isAllowed }) => {
  expect(checkEndpointUrl(text, { allowPrivate: false, privateHosts }) !== undefined).toBe(isAllowed)
})

test('a private host may have private addresses, and no other host', () => {
  const isAllowed = allowAddresses({ allowPrivate: false, privateHosts })
  expect(isAllowed('10.0.3.9', 'orders.svc.cluster.local')).toBe(true)
  expect(isAllowed('10.0.3.9', 'rebound.example.com')).toBe(false)
  expect(isAllowed('8.8.8.8', 'rebound.example.com')).toBe(true)
  // A connection names an IPv6 address without brackets.
  expect(isAllowed('fd00::7', 'fd00::7')).toBe(true)
  expect(isAllowed('fd00::8', 'fd00::8')).toBe(false)
})

/** No name server resolves an address as a name. */
const neverResolve = () => Promise.reject(new DnsError('ENOTFOUND'))

test.each([
  { text: 'https://8.8.8.8/', allowPrivate: false, verdict: 'allowed' },
  { text: 'https://[2606:4700::1111]/', allowPrivate: false, verdict: 'allowed' },
  { text: 'https://10.0.0.1/', allowPrivate: false, verdict: 'refused' },
  { text: 'http://10.0.0.1/', allowPrivate: true, verdict: 'allowed' },
  { text: 'http://[::1]/', allowPrivate: true, verdict: 'allowed' },
  { text: 'ftp://10.0.0.1/', allowPrivate: true, verdict: 'refused' },
  { text: 'nonsense', allowPrivate: true, verdict: 'refused' },
])('decides on $text without a lookup (private: $allowPrivate): $verdict', async ({ text, allowPrivate, verdict }) => {
  expect(await checkAddress(text, { allowPrivate, isAllowed: () => false, resolve: neverResolve })).toBe(verdict)
})

test.each([
  { address: '64:ff9b::5db8:d822', of: 'a public IPv4 address', isPublic: true },
  { address: '64:ff9b::8.8.8.8', of: 'a public IPv4 address in dotted form', isPublic: true },
  { address: '64:ff9b::a9fe:a9fe', of: 'cloud metadata', isPublic: false },
  { address: '64:ff9b::a83f:8110', of: "Azure's platform", isPublic: false },
  { address: '64:ff9b::a00:1', of: 'a private address', isPublic: false },
  { address: '64:ff9b::7f00:1', of: 'loopback', isPublic: false },
  { address: '64:ff9b::', of: 'no address', isPublic: false },
  { address: '64:ff9b:1::808:808', of: 'the local-use prefix', isPublic: false },
  { address: '64:ff9b:0:1::808:808', of: 'the rest of the prefix', isPublic: false },
])('treats the NAT64 form of $of as public: $isPublic', ({ address, isPublic }) => {
  expect(isPublicAddress(address)).toBe(isPublic)
})

const resolveWithDns64 = async () => ['93.184.216.34', '64:ff9b::5db8:d822']

test('accepts a host with IPv4 only whose name DNS64 extends', async () => {
  const rules = { allowPrivate: false, isAllowed: isPublicAddress, resolve: resolveWithDns64 }
  expect(await checkAddress('https://hooks.example.com/', rules)).toBe('allowed')
})
