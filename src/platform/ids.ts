import { randomFillSync } from 'node:crypto'

/** Crockford's base32 in lower case: it omits i, l, o and u, and sorts like the encoded bits. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
/** Number of characters after the prefix. */
const idLength = 26

export const messageIdPattern = new RegExp(`^msg_[${alphabet}]{${idLength}}$`)

export type IdPrefix =
  | 'acc'
  | 'wa'
  | 'msg'
  | 'evt'
  | 'ep'
  | 'dlv'
  | 'req'
  | 'aud'
  | 'eml'
  | 'med'
  | 'sup'
  | 'otc'
  | 'alr'
  | 'cht'
  | 'prc'

/**
 * Encodes `<prefix>_` and a UUIDv7 (RFC 9562, 5.7) in 26 base32 characters, so that IDs sort by time. `random` must
 * have at least 10 bytes.
 */
export function encodeId(prefix: IdPrefix, milliseconds: number, random: Uint8Array): string {
  startAt(milliseconds)
  for (let index = 0; index < 10; index++) uuid[6 + index] = random[index] ?? 0
  return finish(prefix)
}

/**
 * Returns IDs that sort in the order of the array. A millisecond holds 4096 IDs; further ones use the next millisecond.
 */
export function encodeIdsInOrder(
  prefix: IdPrefix,
  milliseconds: number,
  count: number,
  randomBytes: (size: number) => Uint8Array,
): string[] {
  const random = randomBytes(8 * count)
  return Array.from({ length: count }, (_, index) => {
    startAt(milliseconds + spanOfIdsInOrder(index + 1))
    uuid[6] = index >> 8
    uuid[7] = index
    for (let byte = 0; byte < 8; byte++) uuid[8 + byte] = random[8 * index + byte] ?? 0
    return finish(prefix)
  })
}

/** Returns by how many milliseconds the last of `count` IDs is later than the first. */
export function spanOfIdsInOrder(count: number): number {
  return (count - 1) >> 12
}

/** Returns the smallest ID that a row recorded at `time` or later can have. */
export function firstIdAt(prefix: IdPrefix, time: Date): string {
  startAt(Math.max(0, time.getTime()))
  return `${prefix}_${base32()}`
}

/** Returns the time in an ID, in milliseconds precision. Throws a RangeError for any other text. */
export function timeOfId(id: string): Date {
  const digits = Array.from(id.slice(id.indexOf('_') + 1), (letter) => alphabet.indexOf(letter))
  if (digits.length !== idLength || digits.includes(-1)) throw new RangeError('not an id')
  const value = digits.reduce((value, digit) => (value << 5n) | BigInt(digit), 0n)
  return new Date(Number(value >> 80n))
}

/**
 * Returns IDs of requests, such as `req_019aab34c5d6_9f86d0811x`: the time in milliseconds (12 hexadecimal digits), so
 * that they sort by time, then the process and a count. Cheaper than `encodeId`, because every request gets one.
 */
export function createRequestIds(randomBytes: (size: number) => Uint8Array): () => string {
  const process = Buffer.from(randomBytes(4)).toString('hex')
  let [start, milliseconds, count] = ['', 0, 0]
  return () => {
    const now = Date.now()
    if (now !== milliseconds) {
      milliseconds = now
      start = `${firstRequestIdAt(new Date(now))}_${process}`
    }
    return start + (++count).toString(36)
  }
}

/** Returns a lower bound for the IDs of requests at `time` or later. */
export function firstRequestIdAt(time: Date): string {
  return `req_${Math.max(0, time.getTime()).toString(16).padStart(12, '0')}`
}

export function timeOfRequestId(id: string): Date {
  return new Date(Number.parseInt(id.slice('req_'.length, 'req_'.length + 12), 16))
}

/** The ID that is being encoded, and its characters: every message and event has an ID, and none allocates its own. */
const uuid = new Uint8Array(16)
const characters = Buffer.alloc(idLength)
const alphabetCodes = Buffer.from(alphabet, 'latin1')

/** Writes the 48-bit timestamp into `uuid`; the other bytes are zero. */
function startAt(milliseconds: number): void {
  for (let index = 5, rest = milliseconds; index >= 0; index--, rest = Math.floor(rest / 256)) uuid[index] = rest % 256
  uuid.fill(0, 6)
}

/** Sets the version and variant bits of `uuid`, and encodes it. */
function finish(prefix: IdPrefix): string {
  uuid[6] = 0x70 | ((uuid[6] ?? 0) & 0x0f)
  uuid[8] = 0x80 | ((uuid[8] ?? 0) & 0x3f)
  return `${prefix}_${base32()}`
}

/** Encodes `uuid`. It uses no bigints, because they would make each send's ID five times as slow. */
function base32(): string {
  let length = 0
  // 26 characters hold 130 bits, so the value starts with two zero bits.
  let value = 0
  let bits = 2
  for (const byte of uuid) {
    value = (value << 8) | byte
    for (bits += 8; bits >= 5; value &= (1 << bits) - 1) {
      bits -= 5
      characters[length++] = alphabetCodes[value >>> bits] ?? 0
    }
  }
  return characters.toString('latin1')
}

const poolBytes = 16 * 1024

/**
 * Returns random bytes from a pool, because a system call for each ID would take a microsecond. No byte is returned
 * twice.
 */
export function createRandomPool(): (size: number) => Uint8Array {
  let pool = Buffer.alloc(0)
  let used = 0
  return (size) => {
    if (size > poolBytes) return randomFillSync(Buffer.alloc(size))
    if (used + size > pool.length) {
      // A new buffer, because callers may still hold slices of the old one.
      pool = randomFillSync(Buffer.alloc(poolBytes))
      used = 0
    }
    used += size
    return pool.subarray(used - size, used)
  }
}
