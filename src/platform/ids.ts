import { randomFillSync } from 'node:crypto'

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
  const uuid = startAt(milliseconds)
  uuid.set(random.subarray(0, 10), 6)
  // The version, and the variant.
  uuid[6] = 0x70 | ((random[0] ?? 0) & 0x0f)
  uuid[8] = 0x80 | ((random[2] ?? 0) & 0x3f)
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
    encodeId(
      prefix,
      milliseconds + spanOfIdsInOrder(index + 1),
      Uint8Array.of((index >> 8) & 0xf, index & 0xff, ...randomBytes(8)),
    ),
  )
}

/** By how many milliseconds the last of so many ids is later than the first one. */
export function spanOfIdsInOrder(count: number): number {
  return (count - 1) >> 12
}

/** The smallest id that any row recorded at `time` or later can have. */
export function firstIdAt(prefix: IdPrefix, time: Date): string {
  return `${prefix}_${base32(startAt(Math.max(0, time.getTime())))}`
}

/** When the row of an id was made, to the millisecond. Throws at what is no id. */
export function timeOfId(id: string): Date {
  const digits = Array.from(id.slice(id.indexOf('_') + 1), (letter) => alphabet.indexOf(letter))
  if (digits.length !== idLength || digits.includes(-1)) throw new RangeError('not an id')
  const value = digits.reduce((value, digit) => (value << 5n) | BigInt(digit), 0n)
  return new Date(Number(value >> 80n))
}

/** The 48 bits of the time, and nothing behind them. */
function startAt(milliseconds: number): Uint8Array {
  const uuid = new Uint8Array(16)
  for (let index = 5, rest = milliseconds; index >= 0; index--, rest = Math.floor(rest / 256)) uuid[index] = rest % 256
  return uuid
}

/** Of 16 bytes. Each id of a send is made here: with bigints it would take five times as long. */
function base32(bytes: Uint8Array): string {
  let text = ''
  // 26 letters hold 130 bits, so two come before the first.
  let [value, bits] = [0, 2]
  for (const byte of bytes) {
    value = (value << 8) | byte
    for (bits += 8; bits >= 5; value &= (1 << bits) - 1) {
      bits -= 5
      text += alphabet[value >>> bits]
    }
  }
  return text
}

const poolBytes = 16 * 1024

/** Random bytes drawn from the system in bulk, each given out once: a draw of its own costs a microsecond. */
export function createRandomPool(): (size: number) => Uint8Array {
  let pool = Buffer.alloc(0)
  let used = 0
  return (size) => {
    if (size > poolBytes) return randomFillSync(Buffer.alloc(size))
    if (used + size > pool.length) {
      // A new buffer, since the slices of the old one may still be held.
      pool = randomFillSync(Buffer.alloc(poolBytes))
      used = 0
    }
    used += size
    return pool.subarray(used - size, used)
  }
}
