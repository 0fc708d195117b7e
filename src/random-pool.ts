import { randomFillSync } from 'node:crypto'

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
