import type { NoteErrors } from '../../messages/callbacks/handle-callback.ts'
import { BoundedMap } from '../../platform/bounded-map.ts'
import type { Logger } from '../../platform/log.ts'

/** The same error of a number is logged at most this often. */
const intervalMilliseconds = 10 * 60_000
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
      if (whatsAppAccountId === undefined || now() - (loggedAt.get(key) ?? -Infinity) < intervalMilliseconds) continue
      loggedAt.set(key, now())
      log.warn({ whatsAppAccountId, code, title }, 'WhatsApp reported an error that belongs to no message')
    }
  }
}
