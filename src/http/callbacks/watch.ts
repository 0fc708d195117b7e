import type { NoteErrors } from '../../messages/callbacks.ts'
import { BoundedMap } from '../../platform/bounded-map.ts'
import type { Logger } from '../../platform/log.ts'

/** The ID comes from the callback's path; it is undefined for the path that all accounts share. */
export interface SignatureWatch {
  /** A callback was rejected because of its signature. */
  rejected(whatsAppAccountId: string | undefined): void
  accepted(whatsAppAccountId: string | undefined): void
}

interface PathState {
  rejected: number
  loggedAt: number
  isReported: boolean
}

/** Anyone can send a wrong signature, so each path logs one at most this often. */
const intervalMilliseconds = 10 * 60_000
/** Anyone can also invent paths. */
const maxPaths = 1_000

/**
 * Logs when callbacks with a wrong signature begin to arrive, and when an accepted one follows: otherwise, only missing
 * statuses would reveal a wrong app secret. Each path is watched separately, so that valid callbacks of one app do not
 * hide the rejected ones of another.
 */
export function watchSignatures(log: Logger, now: () => number = () => performance.now()): SignatureWatch {
  const paths = new BoundedMap<string, PathState>(maxPaths)
  const shared = createPathState()
  const stateOf = (id: string | undefined) => {
    if (id === undefined) return shared
    const state = paths.get(id) ?? createPathState()
    paths.set(id, state)
    return state
  }
  return {
    rejected: (whatsAppAccountId) => {
      const state = stateOf(whatsAppAccountId)
      state.rejected++
      if (now() - state.loggedAt < intervalMilliseconds) return
      log.warn(
        { rejected: state.rejected, ...(whatsAppAccountId !== undefined && { whatsAppAccountId }) },
        'rejected callbacks: their signature matches neither META_APP_SECRET nor the app secret of their WhatsApp account. If they come from Meta, correct the secret; no status arrives until then',
      )
      state.rejected = 0
      state.loggedAt = now()
      state.isReported = true
    },
    accepted: (whatsAppAccountId) => {
      const state = whatsAppAccountId === undefined ? shared : paths.get(whatsAppAccountId)
      if (state?.isReported !== true) return
      state.isReported = false
      log.info(
        { ...(whatsAppAccountId !== undefined && { whatsAppAccountId }) },
        'a callback with a valid signature arrived after rejected ones',
      )
    },
  }
}

function createPathState(): PathState {
  return { rejected: 0, loggedAt: -Infinity, isReported: false }
}

/** The same error of a number is logged at most this often. */
const errorIntervalMilliseconds = 10 * 60_000
const maxKnown = 1_000

/** Counts the errors that callbacks report beside their messages, and logs those of known numbers. */
export function watchErrors(
  log: Logger,
  count: (code: number) => void,
  now: () => number = () => performance.now(),
): NoteErrors {
  const loggedAt = new BoundedMap<string, number>(maxKnown)
  return (errors) => {
    for (const { code, title, whatsAppAccountId } of errors) {
      count(code)
      const key = `${whatsAppAccountId} ${code}`
      if (whatsAppAccountId === undefined || now() - (loggedAt.get(key) ?? -Infinity) < errorIntervalMilliseconds)
        continue
      loggedAt.set(key, now())
      log.warn({ whatsAppAccountId, code, title }, 'WhatsApp reported an error that belongs to no message')
    }
  }
}
