/** How many requests one API key, or one address, has at work. */
export interface Share {
  take(): void
  release(): void
  /** A request that was taken does not count until it is resumed; it still belongs to this share. */
  pause(): void
  resume(): void
}

export interface Shares {
  /** The share that a new request counts for; undefined when it is refused. The address matters without a known key. */
  admit(address: () => string, keyHash: string | undefined): Share | undefined
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
  const ofKeys = new Map<string, CountedShare>()
  const ofAddresses = new Map<string, CountedShare>()
  const atWork = new Set<CountedShare>()
  let total = 0

  class CountedShare implements Share {
    held = 0
    #paused = 0
    readonly #whenEmpty: () => void

    constructor(whenEmpty: () => void) {
      this.#whenEmpty = whenEmpty
    }

    take(): void {
      total += 1
      this.held += 1
      if (this.held === 1) atWork.add(this)
    }

    release(): void {
      this.#discount()
      this.forgetIfEmpty()
    }

    pause(): void {
      this.#paused += 1
      this.#discount()
    }

    resume(): void {
      this.#paused -= 1
      this.take()
    }

    forgetIfEmpty(): void {
      if (this.held === 0 && this.#paused === 0) this.#whenEmpty()
    }

    #discount(): void {
      total -= 1
      this.held -= 1
      if (this.held === 0) atWork.delete(this)
    }
  }

  function shareOfAddress(address: string): CountedShare {
    let share = ofAddresses.get(address)
    if (!share) ofAddresses.set(address, (share = new CountedShare(() => ofAddresses.delete(address))))
    return share
  }

  function shareOfKey(keyHash: string): CountedShare {
    const [oldest] = ofKeys.size < maxRecognized ? [] : ofKeys.keys()
    if (oldest !== undefined) ofKeys.delete(oldest)
    const share = new CountedShare(() => {})
    ofKeys.set(keyHash, share)
    return share
  }

  const holdsMost = ({ held }: CountedShare) => atWork.values().every((other) => other.held <= held)

  return {
    admit: (address, keyHash) => {
      const share = (keyHash !== undefined && ofKeys.get(keyHash)) || shareOfAddress(address())
      const isRefused = total >= max && (total >= max + reserve || holdsMost(share))
      if (!isRefused) return share
      share.forgetIfEmpty()
      return undefined
    },
    recognize: (keyHash) => ofKeys.get(keyHash) ?? shareOfKey(keyHash),
    total: () => total,
  }
}
