import type { Kysely } from 'kysely'
import { Counter, type Registry } from 'prom-client'
import { shiftSyncs } from '../../accounts/whatsapp/store.ts'
import type { Deps } from '../../deps.ts'
import { lookAgainAtMessages } from '../../messages/status/stale-pending.ts'
import { adjustToEarlierClock, clockToleranceSeconds, noteDatabaseClock } from '../../platform/db/clock.ts'
import type { Database } from '../../platform/db/schema.ts'
import { shiftAttempts } from '../../users/sign-in/login-throttle.ts'
import { skipLostEventIds } from '../../webhooks/events/store.ts'
import { shiftDeliveries } from '../../webhooks/queue/store.ts'

const everyMilliseconds = 2_000

/**
 * What waits for a time of the database's clock, each with the step that brings it back by some seconds. Rate limits
 * and idempotency keys are missing: their statements take a time far ahead for one of before such a step.
 */
const adjustments: ((trx: Kysely<Database>, seconds: number) => Promise<unknown>)[] = [
  shiftDeliveries,
  shiftSyncs,
  shiftAttempts,
  lookAgainAtMessages,
  skipLostEventIds,
]

type WatchDeps = Pick<Deps, 'db' | 'log' | 'announcements'>

/**
 * Notices when the clock of the database jumps, as it does when a standby with another clock takes over. Set back, it
 * would let everything that waits do so for as much longer: that is brought back by as much. Set forward, what waits
 * is early, leases end early, and nothing is lost.
 */
export function startClockWatch(deps: WatchDeps, registry: Registry): { stop(): void } {
  const jumps = new Counter({
    name: 'waybill_database_clock_jumps_total',
    help: 'Jumps of the clock of the database by more than five seconds that this process was the first to notice.',
    labelNames: ['direction'] as const,
    registers: [registry],
  })
  for (const direction of ['back', 'forward']) jumps.inc({ direction }, 0)
  const watch = createClockWatch(deps, (direction) => jumps.inc({ direction }))
  let running = false
  const timer = setInterval(() => {
    if (running) return
    running = true
    void watch().finally(() => (running = false))
  }, everyMilliseconds).unref()
  return { stop: () => clearInterval(timer) }
}

/** One look at the clock. Never throws: a database that is away is looked at again. */
function createClockWatch(deps: WatchDeps, onJump: (direction: 'back' | 'forward') => void): () => Promise<void> {
  /** What to add to this process' own steady clock to get the database's, in milliseconds. */
  let offset: number | undefined
  return async () => {
    try {
      const askedAt = performance.now()
      const { now, secondsPastHighest } = await noteDatabaseClock(deps.db)
      const expected = offset === undefined ? undefined : performance.now() + offset
      // The clock was read at some time between these two.
      offset = now.getTime() - (askedAt + performance.now()) / 2
      if (secondsPastHighest < -clockToleranceSeconds) return await adjust(deps, onJump)
      const secondsAhead = expected === undefined ? 0 : (now.getTime() - expected) / 1000
      // What another process has seen by now was noticed there.
      if (Math.min(secondsAhead, secondsPastHighest) <= clockToleranceSeconds) return
      onJump('forward')
      deps.log.warn(
        { seconds: Math.round(secondsAhead) },
        "the database's clock was set forward, or this process was suspended: what waits for a time comes early",
      )
    } catch (error) {
      deps.log.debug({ err: error }, "the database's clock could not be read")
    }
  }
}

async function adjust(deps: WatchDeps, onJump: (direction: 'back') => void): Promise<void> {
  try {
    const seconds = await adjustToEarlierClock(deps.db, async (trx, seconds) => {
      for (const adjustment of adjustments) await adjustment(trx, seconds)
    })
    if (seconds === undefined) return
    onJump('back')
    deps.log.warn(
      { seconds: Math.round(seconds) },
      "the database's clock was set back: what waits for a time was brought back by as much",
    )
    deps.announcements.announce('deliveries')
  } catch (error) {
    deps.log.warn({ err: error }, "what waits could not be adjusted to the database's clock yet; trying again")
  }
}
