/** Crockford's base32, lower case: no i, l, o or u, and its order is the order of the bits. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
/** Letters behind the prefix. */
const idLength = 26

export type IdPrefix = 'acc' | 'wa' | 'msg' | 'evt' | 'ep' | 'dlv' | 'req' | 'aud'

/**
 * `<prefix>_` and a UUIDv7 (RFC 9562, 5.7) in 26 characters of base32, so that ids sort by time.
 * `random` must hold at least 10 bytes.
 */
export function encodeId(prefix: IdPrefix, milliseconds: number, random: Uint8Array): string {
  const uuid =
    (BigInt(milliseconds) << 80n) |
    (0x7n << 76n) |
    (BigInt((((random[0] ?? 0) << 8) | (random[1] ?? 0)) & 0xfff) << 64n) |
    (0b10n << 62n) |
    (bytesToBigInt(random.subarray(2, 10)) & 0x3fff_ffff_ffff_ffffn)
  return `${prefix}_${base32(uuid)}`
}

/** Ids that sort in the order in which they are returned. A millisecond holds 4096: more run on into the next one. */
export function encodeIdsInOrder(
  prefix: IdPrefix,
  milliseconds: number,
  count: number,
  randomBytes: (size: number) => Uint8Array,
): string[] {
  return Array.from({ length: count }, (_, index) =>
    encodeId(prefix, milliseconds + (index >> 12), Uint8Array.of((index >> 8) & 0xf, index & 0xff, ...randomBytes(8))),
  )
}

/** The smallest id that any row recorded at `time` or later can have. */
export function firstIdAt(prefix: IdPrefix, time: Date): string {
  return `${prefix}_${base32(BigInt(Math.max(0, time.getTime())) << 80n)}`
}

/** When the row of an id was made, to the millisecond. Throws at what is no id. */
export function timeOfId(id: string): Date {
  const digits = Array.from(id.slice(id.indexOf('_') + 1), (letter) => alphabet.indexOf(letter))
  if (digits.length !== idLength || digits.includes(-1)) throw new RangeError('not an id')
  const value = digits.reduce((value, digit) => (value << 5n) | BigInt(digit), 0n)
  return new Date(Number(value >> 80n))
}

function bytesToBigInt(bytes: Uint8Array): bigint {
  return bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n)
}

function base32(value: bigint): string {
  let text = ''
  for (let shift = 125n; shift >= 0n; shift -= 5n) text += alphabet[Number((value >> shift) & 31n)]
  return text
}
