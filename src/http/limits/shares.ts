/** The concurrent requests of one API key or one address. */
export interface Share {
  take(): void
  release(): void
  /** A request that was taken does not count until it is resumed; it still belongs to this share. */
  pause(): void
  resume(): void
}

export interface Shares {
  /**
   * Returns the share that counts a new request, or undefined if the request is rejected. The address counts when the
   * key is not recognized.
   */
  admit(address: () => string, keyHash: string | undefined): Share | undefined
  /** Returns the share of an API key that has just been found valid. */
  recognize(keyHash: string): Share
  total(): number
}

/** Number of recognized keys. Requests with other keys count for their address until one of them is authenticated. */
const maxRecognized = 10_000

/**
 * Divides `max` concurrent requests among API keys. A single key may use all of them. If another key sends a request at
 * the limit, it is admitted beyond the limit (by up to a quarter), and the key with the most requests is rejected until
 * the total falls again. So no key can starve the others, and a single key loses nothing. Anyone can invent keys, so a
 * request counts for its address until its key has been authenticated.
 */
export function createShares(max: number): Shares {
  const reserve = Math.ceil(max / 4)
  const ofKeys = new Map<string, CountedShare>()
  const ofAddresses = new Map<string, CountedShare>()
  const active = new Set<CountedShare>()
  let total = 0

  class CountedShare implements Share {
    held = 0
    #paused = 0
    readonly #onEmpty: () => void

    constructor(onEmpty: () => void) {
      this.#onEmpty = onEmpty
    }

    take(): void {
      total += 1
      this.held += 1
      if (this.held === 1) active.add(this)
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
      if (this.held === 0 && this.#paused === 0) this.#onEmpty()
    }

    #discount(): void {
      total -= 1
      this.held -= 1
      if (this.held === 0) active.delete(this)
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

  const holdsMost = ({ held }: CountedShare) => active.values().every((other) => other.held <= held)

  return {
    admit: (address, keyHash) => {
      const share = (keyHash !== undefined && ofKeys.get(keyHash)) || shareOfAddress(address())
      const isRejected = total >= max && (total >= max + reserve || holdsMost(share))
      if (!isRejected) return share
      share.forgetIfEmpty()
      return undefined
    },
    recognize: (keyHash) => ofKeys.get(keyHash) ?? shareOfKey(keyHash),
    total: () => total,
  }
}
