import type { Deps } from '../deps.ts'
import { deleteExpiredIdempotencyKeys } from '../message/send-store.ts'
import { syncWhatIsDue } from '../template/periodic-sync.ts'

interface Chore {
  everySeconds: number
  /** What the log says when it did not work. */
  failure: string
  run: (deps: Deps) => Promise<unknown>
}

/** What has to be done from time to time; of several nodes each does all of it, and none in vain. */
const chores: Chore[] = [
  {
    everySeconds: 3600,
    failure: 'expired idempotency keys could not be deleted',
    run: ({ db }) => deleteExpiredIdempotencyKeys(db),
  },
  { everySeconds: 15, failure: 'templates and numbers could not be synced', run: syncWhatIsDue },
]

/** A chore never overlaps itself, and one that fails is tried again when its time comes. */
export function startHousekeeping(deps: Deps): { stop(): void } {
  const timers = chores.map((chore) => repeat(chore, deps))
  return { stop: () => timers.forEach((timer) => clearInterval(timer)) }
}

function repeat({ everySeconds, failure, run }: Chore, deps: Deps): NodeJS.Timeout {
  let running = false
  return setInterval(() => {
    if (running) return
    running = true
    run(deps)
      .catch((error: unknown) => deps.log.warn({ err: error }, failure))
      .finally(() => {
        running = false
      })
  }, everySeconds * 1000).unref()
}
