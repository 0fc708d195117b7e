import type { Deps } from '../../deps.ts'
import { BoundedMap } from '../../platform/bounded-map.ts'
import { type CallbackKind, recordCallbacks } from './store.ts'

/**
 * Under load, callbacks arrive many times a second; their time is stored at most this often. So a stored time is at most
 * this much older than the last callback.
 */
export const callbackTimeIntervalMilliseconds = 10_000
const maxKnown = 10_000

/** Records that callbacks arrived for these accounts. Runs in the background and never fails the callback. */
export type RecordCallbackTimes = (whatsAppAccountIds: readonly string[], kind: CallbackKind) => void

export function createCallbackTimeRecorder({ db, log }: Pick<Deps, 'db' | 'log'>): RecordCallbackTimes {
  /** When this server last stored a callback, by WhatsApp account and kind. */
  const storedAt = new BoundedMap<string, number>(maxKnown)
  return (whatsAppAccountIds, kind) => {
    const now = performance.now()
    const due = whatsAppAccountIds.filter(
      (id) => now - (storedAt.get(`${id} ${kind}`) ?? -Infinity) > callbackTimeIntervalMilliseconds,
    )
    if (due.length === 0) return
    for (const id of due) storedAt.set(`${id} ${kind}`, now)
    recordCallbacks(db, due, kind).catch((error: unknown) => {
      for (const id of due) storedAt.delete(`${id} ${kind}`)
      log.debug({ err: error }, 'could not store the time of a callback')
    })
  }
}
