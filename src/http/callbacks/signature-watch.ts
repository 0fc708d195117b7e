import { BoundedMap } from '../../platform/bounded-map.ts'
import type { Logger } from '../../platform/log.ts'

/** The ID is that of the callback's path; undefined for the path that all accounts share. */
export interface SignatureWatch {
  /** A callback was rejected because of its signature. */
  rejected(whatsAppAccountId: string | undefined): void
  accepted(whatsAppAccountId: string | undefined): void
}

interface Seen {
  rejected: number
  loggedAt: number
  isReported: boolean
}

/** Anybody can send a wrong signature, so it is logged at most this often for each path. */
const intervalMilliseconds = 10 * 60_000
/** Anybody can also invent paths. */
const maxPaths = 1_000

/**
 * Logs when callbacks with a wrong signature begin to arrive, and when an accepted one follows: a wrong app secret would
 * otherwise only be noticed by missing statuses. Paths are watched apart, so that the callbacks of a good app do not
 * hide those of a bad one.
 */
export function watchSignatures(log: Logger, now: () => number = () => performance.now()): SignatureWatch {
  const paths = new BoundedMap<string, Seen>(maxPaths)
  const shared = createSeen()
  const seenAt = (id: string | undefined) => {
    if (id === undefined) return shared
    const seen = paths.get(id) ?? createSeen()
    paths.set(id, seen)
    return seen
  }
  return {
    rejected: (whatsAppAccountId) => {
      const seen = seenAt(whatsAppAccountId)
      seen.rejected++
      if (now() - seen.loggedAt < intervalMilliseconds) return
      log.warn(
        { rejected: seen.rejected, ...(whatsAppAccountId !== undefined && { whatsAppAccountId }) },
        'rejected callbacks: their signature matches neither META_APP_SECRET nor the app secret of their WhatsApp account. If they come from Meta, correct the secret; no status arrives until then',
      )
      seen.rejected = 0
      seen.loggedAt = now()
      seen.isReported = true
    },
    accepted: (whatsAppAccountId) => {
      const seen = whatsAppAccountId === undefined ? shared : paths.get(whatsAppAccountId)
      if (seen?.isReported !== true) return
      seen.isReported = false
      log.info(
        { ...(whatsAppAccountId !== undefined && { whatsAppAccountId }) },
        'a callback with a valid signature arrived after rejected ones',
      )
    },
  }
}

function createSeen(): Seen {
  return { rejected: 0, loggedAt: -Infinity, isReported: false }
}
