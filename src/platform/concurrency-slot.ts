/** A slot among the concurrent requests of this process, which does not count while its request waits for others. */
export interface ConcurrencySlot {
  /** Each pause ends with one resume, or with the request. */
  pause(): void
  resume(): void
}

export async function withSlotPaused<Result>(
  slot: ConcurrencySlot | null | undefined,
  wait: () => Promise<Result>,
): Promise<Result> {
  slot?.pause()
  try {
    return await wait()
  } finally {
    slot?.resume()
  }
}
