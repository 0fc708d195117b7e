import type { Deps } from '../../deps.ts'
import { reportUnknownOutcomes } from '../../messages/journal/outcome-unknown.ts'
import { deleteOldCounts, foldCounts } from '../../messages/queries/counts-store.ts'
import { deleteExpiredIdempotencyKeys } from '../../messages/send/idempotency-store.ts'
import { recordStalePending } from '../../messages/status/stale-pending.ts'
import type { Config } from '../../platform/config.ts'
import { readDatabaseClock } from '../../platform/db/clock.ts'
import { createPartitions, dropOldPartitions } from '../../platform/db/partitions.ts'
import { vacuumEmbedded } from '../../platform/db/vacuum.ts'
import { syncDueTemplates } from '../../templates/periodic-sync.ts'
import { auditKeptDays } from '../../users/audit/audit.ts'
import { deleteExpiredSignIns } from '../../users/audit/store.ts'
import { expireAuditEntries } from '../../users/audit/verify.ts'
import { deleteOldDeliveries } from '../../webhooks/queue/retention-store.ts'

type HousekeepingConfig = Pick<Config, 'retentionDays' | 'outcomeUnknownAfterSeconds'> & {
  /** Hears how many messages were reported whose outcome stays unknown. */
  onOutcomesUnknown?: (messages: number) => void
}

interface Chore {
  everySeconds: number
  /** What the log says when it did not work. */
  failure: string
  run: (deps: Deps, config: HousekeepingConfig) => Promise<unknown>
}

/** What has to be done from time to time; of several nodes each does all of it, and none in vain. */
const chores: Chore[] = [
  {
    everySeconds: 3600,
    failure: 'expired idempotency keys could not be deleted',
    run: ({ db }) => deleteExpiredIdempotencyKeys(db),
  },
  {
    everySeconds: 3600,
    failure: 'partitions could not be made or dropped',
    run: async ({ db, log }, { retentionDays }) => {
      // A node whose clock is ahead would drop what is still to be kept.
      const now = await readDatabaseClock(db)
      for (const { partition, error } of await createPartitions(db, now))
        log.warn({ err: error, partition }, 'a partition could not be made yet; trying again in an hour')
      await deleteOldDeliveries(db, retentionDays)
      await dropOldPartitions(db, now, retentionDays)
      await deleteOldCounts(db, retentionDays)
    },
  },
  {
    everySeconds: 3600,
    failure: 'sign-ins that have expired could not be deleted',
    run: ({ db }) => deleteExpiredSignIns(db),
  },
  {
    everySeconds: 3600,
    failure: 'old entries of the audit log could not be deleted',
    run: async (deps) => {
      const now = await readDatabaseClock(deps.db)
      await expireAuditEntries(deps, new Date(now.getTime() - auditKeptDays * 86_400_000))
    },
  },
  { everySeconds: 10, failure: 'counts of messages could not be brought up to date', run: ({ db }) => foldCounts(db) },
  { everySeconds: 10, failure: 'pending messages could not be noted', run: ({ db }) => recordStalePending(db) },
  { everySeconds: 7, failure: 'the embedded database could not be vacuumed', run: ({ db }) => vacuumEmbedded(db) },
  {
    everySeconds: 10,
    failure: 'messages of unknown outcome could not be reported',
    run: async (deps, { outcomeUnknownAfterSeconds, onOutcomesUnknown }) => {
      const messages = await reportUnknownOutcomes(deps, { afterSeconds: outcomeUnknownAfterSeconds })
      if (messages > 0) onOutcomesUnknown?.(messages)
    },
  },
  { everySeconds: 15, failure: 'templates and numbers could not be synced', run: syncDueTemplates },
]

/** A chore never overlaps itself, and one that fails is tried again when its time comes. */
export function startHousekeeping(deps: Deps, config: HousekeepingConfig): { stop(): void } {
  const timers = chores.map((chore) => repeat(chore, deps, config))
  return { stop: () => timers.forEach((timer) => clearInterval(timer)) }
}

function repeat({ everySeconds, failure, run }: Chore, deps: Deps, config: HousekeepingConfig): NodeJS.Timeout {
  let running = false
  return setInterval(() => {
    if (running) return
    running = true
    run(deps, config)
      .catch((error: unknown) => deps.log.warn({ err: error }, failure))
      .finally(() => {
        running = false
      })
  }, everySeconds * 1000).unref()
}
