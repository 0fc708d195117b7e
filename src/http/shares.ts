/** How many requests one API key, or one address, has at work. */
export interface Share {
  take(): void
  giveBack(): void
}

export interface Shares {
  /** The share that a new request counts for; undefined when it is refused. */
  admit(address: string, keyHash: string | undefined): Share | undefined
  /** The share of a key that has just been found to be somebody's. */
  recognize(keyHash: string): Share
  total(): number
}

/** Keys whose requests count for the key at once; of others one request must have been let in first. */
const maxRecognized = 10_000

/**
 * Divides `max` requests among those who ask. One may have all of them. When another comes then, it is let in
 * beyond the limit, by a quarter of it at most, and the next request of whoever holds most is refused instead: so
 * no key takes the service from the others, and one that is alone loses nothing. A key counts once it was found
 * to be somebody's, since anybody can make up keys; until then its requests count for their address.
 */
export function createShares(max: number): Shares {
  const reserve = Math.ceil(max / 4)
  const held = new Map<string, number>()
  const recognized = new Set<string>()
  let total = 0

  const shareOf = (name: string): Share => ({
    take: () => {
      total += 1
      held.set(name, (held.get(name) ?? 0) + 1)
    },
    giveBack: () => {
      total -= 1
      const left = (held.get(name) ?? 0) - 1
      if (left > 0) held.set(name, left)
      else held.delete(name)
    },
  })
  const holdsMost = (name: string) => {
    const own = held.get(name) ?? 0
    return held.values().every((count) => count <= own)
  }

  return {
    admit: (address, keyHash) => {
      const name = keyHash !== undefined && recognized.has(keyHash) ? `key ${keyHash}` : `address ${address}`
      if (total >= max && (total >= max + reserve || holdsMost(name))) return undefined
      return shareOf(name)
    },
    recognize: (keyHash) => {
      if (!recognized.has(keyHash)) {
        const [oldest] = recognized
        if (recognized.size >= maxRecognized && oldest !== undefined) recognized.delete(oldest)
        recognized.add(keyHash)
      }
      return shareOf(`key ${keyHash}`)
    },
    total: () => total,
  }
}
