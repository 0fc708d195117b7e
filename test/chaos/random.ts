/** A seeded random number generator: the same seed produces the same faults and messages. */
export interface Random {
  /** At least 0, less than 1. */
  next(): number
  /** An integer between both bounds, inclusive. */
  between(least: number, most: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly [T, ...T[]]): T
  /** Chooses a key with a probability proportional to its weight. */
  weighted<Key extends string>(weights: Record<Key, number>): Key
}

/** Mulberry32: 32 bits of state are enough to choose faults. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    next,
    between: (least, most) => least + Math.floor(next() * (most - least + 1)),
    chance: (probability) => next() < probability,
    pick: (items) => items[Math.floor(next() * items.length)] ?? items[0],
    weighted: <Key extends string>(weights: Record<Key, number>): Key => {
      const entries = Object.entries<number>(weights)
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
      const chosen = entries.find(([, weight]) => (left -= weight) < 0) ?? entries[0]
      // `Object.keys` returns only the keys of the table's type.
      return chosen?.[0] as Key
    },
  }
}
