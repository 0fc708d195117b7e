/** An error as described by WhatsApp. */
export interface WhatsAppError {
  code: number
  title: string
  details?: string
}

/** The result of a read from the Graph API. */
export type ReadOutcome<T> =
  | { ok: true; value: T }
  | {
      ok: false
      refused: boolean
      accountUnusable: boolean
      reason: string
      error?: WhatsAppError
      /** Distinguishes errors that share a code, such as those about templates. */
      subcode?: number
      /** True if WhatsApp rejected the read temporarily, for example by throttling: a retry may succeed. */
      transient?: true
      /** True if WhatsApp limits requests. */
      throttled?: true
      /** Seconds after which a retry may succeed, if the error code or the response says so. */
      retryAfterSeconds?: number
      /** True if the token is invalid or may not access the object. */
      accessDenied?: true
    }

/**
 * Reads objects one after another, and leaves out those that WhatsApp does not show. Fails if that may be why nothing is
 * found, or if a retry may read more.
 */
export async function readEach<Item, T>(
  items: readonly Item[],
  read: (item: Item) => Promise<ReadOutcome<T>>,
  isFound: (value: T) => boolean = () => true,
): Promise<ReadOutcome<T[]>> {
  const values: T[] = []
  let refusal: ReadOutcome<never> | undefined
  for (const item of items) {
    const outcome = await read(item)
    if (outcome.ok) values.push(outcome.value)
    else if (!outcome.refused || outcome.transient) return outcome
    else refusal ??= outcome
  }
  return refusal && !values.some(isFound) ? refusal : { ok: true, value: values }
}
