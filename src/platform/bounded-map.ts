/** A Map for caches: it drops its oldest entry instead of holding more than `maxEntries`. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #maxEntries: number

  constructor(maxEntries: number) {
    super()
    this.#maxEntries = maxEntries
  }

  override set(key: Key, value: Value): this {
    if (this.size >= this.#maxEntries && !this.has(key))
      for (const oldest of this.keys()) {
        this.delete(oldest)
        break
      }
    return super.set(key, value)
  }
}

/**
 * Keeps a map small without a timer: called for each new entry, it looks at the four that it has not seen for longest, and
 * forgets those that may be.
 */
export function forgetSome<Key, Value>(map: Map<Key, Value>, mayForget: (value: Value) => boolean): void {
  let checked = 0
  for (const [key, value] of map) {
    if (++checked > 4) return
    map.delete(key)
    if (!mayForget(value)) map.set(key, value)
  }
}
