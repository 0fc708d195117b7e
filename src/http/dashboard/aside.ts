import type { Logger } from '../../platform/log.ts'

/** Runs work that a request has caused and does not wait for. Beyond `max` at once, it is dropped. */
export type RunAside = (work: () => Promise<void>) => void

export function createAside(log: Logger, max: number): RunAside {
  let running = 0
  return (work) => {
    if (running >= max) {
      log.warn('background task limit reached; dropped a task')
      return
    }
    running++
    // After the answer, so that work which only some callers cause delays none of them.
    setImmediate(() => {
      work()
        .catch((error: unknown) => log.error({ err: error }, 'a background task failed'))
        .finally(() => running--)
    })
  }
}
