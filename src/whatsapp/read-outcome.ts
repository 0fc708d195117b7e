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
