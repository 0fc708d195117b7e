import type { Logger } from '../../platform/log.ts'

export interface SignatureWatch {
  /** A callback was rejected because of its signature. The ID is that of its path. */
  wrong(whatsAppAccountId: string | undefined): void
  /** A callback was accepted. */
  right(): void
}

/** Anybody can send a wrong signature, so it is logged at most this often. */
const intervalMilliseconds = 10 * 60_000

/**
 * Logs when callbacks with a wrong signature begin to arrive, and when a right one follows: a wrong app secret would
 * otherwise only be noticed by missing statuses.
 */
export function watchSignatures(log: Logger, now: () => number = () => performance.now()): SignatureWatch {
  let rejected = 0
  let loggedAt = -Infinity
  let isReported = false
  return {
    wrong: (whatsAppAccountId) => {
      rejected++
      if (now() - loggedAt < intervalMilliseconds) return
      loggedAt = now()
      log.warn(
        { rejected, ...(whatsAppAccountId !== undefined && { whatsAppAccountId }) },
        'rejected callbacks: their signature matches neither META_APP_SECRET nor the app secret of their WhatsApp account. If they come from Meta, correct the secret; no status arrives until then',
      )
      rejected = 0
      isReported = true
    },
    right: () => {
      if (!isReported) return
      isReported = false
      log.info('a callback with a valid signature arrived after rejected ones')
    },
  }
}
