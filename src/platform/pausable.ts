/** A place among the concurrent requests of this process, which does not count while its request waits for others. */
export interface Pausable {
  /** Each pause ends with one resume, or with the request. */
  pause(): void
  resume(): void
}

export async function waitPaused<Result>(
  place: Pausable | null | undefined,
  wait: () => Promise<Result>,
): Promise<Result> {
  place?.pause()
  try {
    return await wait()
  } finally {
    place?.resume()
  }
}
