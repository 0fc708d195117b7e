/** A generator of numbers from 0 to 1 that yields the same sequence in every run (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Bytes in the same sequence in every run. */
export function createRandomBytes(seed: number): (size: number) => Uint8Array {
  const random = createRandom(seed)
  return (size) => Uint8Array.from({ length: size }, () => Math.floor(random() * 256))
}

/** Chooses one of the values by its weight. */
export function choose<Value>(
  random: () => number,
  values: readonly (readonly [weight: number, value: Value])[],
): Value {
  const total = values.reduce((sum, [weight]) => sum + weight, 0)
  let left = random() * total
  for (const [weight, value] of values) {
    left -= weight
    if (left < 0) return value
  }
  throw new RangeError('there is no value to choose')
}
