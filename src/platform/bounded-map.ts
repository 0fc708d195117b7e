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
