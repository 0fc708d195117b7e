import type { Kysely } from 'kysely'
import { Counter, type Registry } from 'prom-client'
import { shiftChecks } from '../whatsapp-accounts/health/store.ts'
import { shiftSyncs } from '../whatsapp-accounts/store.ts'
import type { Deps } from '../deps.ts'
import { shiftCodes } from '../messages/codes/store.ts'
import { resetStalePendingCursor } from '../messages/status/stale-pending.ts'
import {
  adjustToEarlierClock,
  clockEstimateOf,
  clockToleranceSeconds,
  recordDatabaseClock,
} from '../platform/db/clock.ts'
import type { Database } from '../platform/db/schema.ts'
import { shiftOutboxes } from '../platform/outbox-loop.ts'
import { shiftAttempts } from '../users/sign-in/login-throttle.ts'
import { skipLostEventIds } from '../webhooks/events.ts'
import { shiftDeliveries } from '../webhooks/queue/store.ts'

/**
 * Shifts stored due times back by a number of seconds. Rate limits, of endpoints too, and idempotency keys are not
 * listed, because their statements treat a time far in the future as one from before the step.
 */
const adjustments: ((trx: Kysely<Database>, seconds: number) => Promise<unknown>)[] = [
  shiftDeliveries,
  shiftSyncs,
  shiftChecks,
  shiftAttempts,
  shiftOutboxes,
  shiftCodes,
  resetStalePendingCursor,
  skipLostEventIds,
]

export interface ClockWatch {
  /** Checks the clock now. */
  check(): Promise<void>
  stop(): Promise<void>
}

type WatchDeps = Pick<Deps, 'db' | 'log' | 'notifications'>

/**
 * Detects jumps of the database clock, for example when a standby with another clock takes over. A clock that is set
 * back would delay everything scheduled, so due times are shifted back by the same amount. A clock that is set forward
 * makes work due early and leases expire early, which loses nothing: what is deleted by its age is also old by the clock of
 * a node. Only while the clock is wrong, keys, codes and sign-ins can appear expired.
 *
 * Resolves after the first check: a clock that was wrong when the machine started may be set back within a second, and
 * work scheduled in between can only be found if the wrong time was recorded first. For the same reason, database
 * responses that show a jump trigger an immediate check.
 */
export async function startClockWatch(
  deps: WatchDeps,
  registry: Registry,
  everyMilliseconds = 2_000,
): Promise<ClockWatch> {
  const jumps = registerClockMetric(registry)
  for (const direction of ['back', 'forward'] as const) jumps.inc({ direction }, 0)
  const watch = createClockWatch(deps, (direction) => jumps.inc({ direction }))
  let running: Promise<void> | undefined
  const check = () => (running ??= watch().finally(() => (running = undefined)))
  await check()
  const timer = setInterval(() => void check(), everyMilliseconds).unref()
  const estimate = clockEstimateOf(deps.db)
  estimate.watch(() => void check())
  return {
    check,
    stop: async () => {
      clearInterval(timer)
      estimate.watch(undefined)
      await running
    },
  }
}

export function registerClockMetric(registry: Registry): Counter<'direction'> {
  return new Counter({
    name: 'waybill_database_clock_jumps_total',
    help: 'Jumps of the database clock by more than five seconds that this process detected first.',
    labelNames: ['direction'] as const,
    registers: [registry],
  })
}

/** Checks the clock once. Never throws: if the database is unavailable, the next check tries again. */
function createClockWatch(deps: WatchDeps, onJump: (direction: 'back' | 'forward') => void): () => Promise<void> {
  /** Offset in milliseconds from this process's monotonic clock to the database clock. */
  let offset: number | undefined
  return async () => {
    try {
      const startedAt = performance.now()
      const { now, secondsPastHighest } = await recordDatabaseClock(deps.db)
      const expected = offset === undefined ? undefined : performance.now() + offset
      // The database read its clock between these two times; use the midpoint.
      offset = now.getTime() - (startedAt + performance.now()) / 2
      if (secondsPastHighest < -clockToleranceSeconds) return await adjust(deps, onJump)
      const secondsAhead = expected === undefined ? 0 : (now.getTime() - expected) / 1000
      // Another process has already noticed a jump that is part of the highest recorded time.
      if (Math.min(secondsAhead, secondsPastHighest) <= clockToleranceSeconds) return
      onJump('forward')
      deps.log.warn(
        { seconds: Math.round(secondsAhead) },
        'the database clock was set forward, or this process was suspended: scheduled work runs early',
      )
    } catch (error) {
      deps.log.debug({ err: error }, 'could not read the database clock')
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
      'the database clock was set back: due times were shifted back by the same amount',
    )
    deps.notifications.notify('deliveries')
  } catch (error) {
    deps.log.warn({ err: error }, 'could not shift due times to the database clock; trying again')
  }
}
