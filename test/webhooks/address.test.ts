import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkEndpointUrl, isPublicAddress } from '../../src/webhooks/endpoints/address.ts'

const strict = { allowPrivate: false }

test.each([
  'https://example.com/webhooks',
  'https://example.com.',
  'https://EXAMPLE.com:8443/a?b=c',
  'https://8.8.8.8/',
  'https://[2606:4700::1111]/',
  'https://müller.example/',
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
  'https://example.com/#part',
  'https://example.com/#',
  'https://localhost/',
  'https://localhost./',
  'https://LOCALHOST/',
  'https://a.localhost/',
  'https://printer.local/',
  'https://metadata.google.internal/',
  'https://router.home.arpa/',
  'https://intranet/',
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
  'https://[64:ff9b::8.8.8.8]/',
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
