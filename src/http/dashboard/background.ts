import type { Logger } from '../../platform/log.ts'

/** Runs work that a request starts but does not wait for. Beyond `max` concurrent tasks, work is dropped. */
export type RunInBackground = (work: () => Promise<void>) => void

export function createBackgroundRunner(log: Logger, max: number): RunInBackground {
  let running = 0
  return (work) => {
    if (running >= max) {
      log.warn('background task limit reached; dropped a task')
      return
    }
    running++
    // Start after the response: its timing must not reveal whether there is work to do.
    setImmediate(() => {
      work()
        .catch((error: unknown) => log.error({ err: error }, 'a background task failed'))
        .finally(() => running--)
    })
  }
}
