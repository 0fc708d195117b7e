/** A pass ends after this time, so that a failed claim is reported and another process gets its share. */
const maxMilliseconds = 50_000

/** Claims due items; returns none if none are left. */
type Claim<Item> = () => Promise<readonly Item[]>

/**
 * Yields due work until none is left or the process stops. Each claim is small, so that several processes share the work,
 * and a process that ends leaves little of it unfinished.
 */
export async function* claimBatches<Item>(
  claim: Claim<Item>,
  stopping?: AbortSignal,
): AsyncGenerator<readonly Item[], void, void> {
  const endsAt = performance.now() + maxMilliseconds
  while (performance.now() < endsAt) {
    const claimed = stopping?.aborted === true ? [] : await claim()
    if (claimed.length === 0) return
    yield claimed
  }
}

async function* claimItems<Item>(claim: Claim<Item>, stopping?: AbortSignal): AsyncGenerator<Item, void, void> {
  for await (const claimed of claimBatches(claim, stopping)) yield* claimed
}

/**
 * Processes due items concurrently, as many as `workers`. `work` must not throw. If the process stops, it completes what is
 * claimed. Returns the items.
 */
export async function processDue<Item>(
  claim: Claim<Item>,
  workers: number,
  work: (item: Item) => Promise<void>,
  stopping?: AbortSignal,
): Promise<Item[]> {
  const due = claimItems(claim, stopping)
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
