/** A pass ends after this time, so that a failed claim is reported and another process gets its share. */
const maxMilliseconds = 50_000

/**
 * Yields due work until none is left. Each claim is small, so that several processes share the work, and a process that
 * ends leaves little of it unfinished. Several workers can iterate at once.
 */
async function* claimInBatches<Item>(claim: () => Promise<readonly Item[]>): AsyncGenerator<Item, void, void> {
  const endsAt = performance.now() + maxMilliseconds
  while (performance.now() < endsAt) {
    const claimed = await claim()
    if (claimed.length === 0) return
    yield* claimed
  }
}

/** Works on due items at once, as many as `workers`. `work` must not throw. Returns the items. */
export async function workOnDue<Item>(
  claim: () => Promise<readonly Item[]>,
  workers: number,
  work: (item: Item) => Promise<void>,
): Promise<Item[]> {
  const due = claimInBatches(claim)
  const done: Item[] = []
  const run = async () => {
    // All workers share one iterator.
    for (let next = await due.next(); !next.done; next = await due.next()) {
      await work(next.value)
      done.push(next.value)
    }
  }
  await Promise.all(Array.from({ length: workers }, run))
  return done
}
