import { setTimeout as delay } from 'node:timers/promises'
import { dayMilliseconds } from '../../contracts/time.ts'
import { type Fact, inEnglish } from '../../contracts/facts/fact.ts'
import { jobs as jobFacts } from '../../contracts/facts/jobs.ts'
import { deleteOldCutoffs } from '../accounts/requests/store.ts'
import { checkDueAccounts } from '../whatsapp-accounts/health/check.ts'
import { refreshDueTokens } from '../whatsapp-accounts/health/refresh.ts'
import { addMissingHealth } from '../whatsapp-accounts/health/store.ts'
import { measureTraffic } from '../whatsapp-accounts/health/traffic.ts'
import type { Deps } from '../deps.ts'
import { cleanUpMedia } from '../media/media.ts'
import { deleteOldCodes } from '../messages/codes/store.ts'
import { deleteOldContents, findLongestStorage } from '../messages/contents/store.ts'
import { reportUnknownOutcomes } from '../messages/status/outcome-unknown.ts'
import { compactBuckets } from '../messages/queries/compact-counts.ts'
import { deleteEmptyBuckets, deleteOldCounts, foldCounts, foldOldBuckets } from '../messages/queries/counts-store.ts'
import { countReach } from '../messages/reach.ts'
import { deleteOldIdentities } from '../messages/recipients/store.ts'
import { deleteOldSeenReplies } from '../messages/replies.ts'
import { deleteExpiredIdempotencyKeys } from '../messages/send/idempotency-store.ts'
import { recordStalePending } from '../messages/status/stale-pending.ts'
import type { Config } from '../platform/config.ts'
import { readDatabaseClock, readEarlierClock } from '../platform/db/clock.ts'
import { createPartitions, dropOldPartitions } from '../platform/db/partitions.ts'
import { vacuumEmbedded } from '../platform/db/vacuum.ts'
import { syncDueTemplates } from '../templates/sync.ts'
import { auditKeptDays } from '../users/audit/audit.ts'
import { deleteExpiredAccountViews } from '../users/operators.ts'
import { createRefreshAuditor } from '../users/audit/by-waybill.ts'
import { expireAuditEntries } from '../users/audit/verify.ts'
import { deleteExpiredSignIns } from '../users/sign-in/login-throttle.ts'
import { announceThresholds } from '../webhooks/alerts/rules/announce-thresholds.ts'
import { sendDueAlerts } from '../webhooks/alerts/rules/due.ts'
import { announceEndpoints } from '../webhooks/alerts/announce-endpoints.ts'
import { announceNotices } from '../webhooks/alerts/notices.ts'
import { createQueueWatch } from '../webhooks/queue/watch.ts'
import { cleanUpAlerts } from '../webhooks/alerts/store.ts'
import { announceTemplateChanges } from '../webhooks/alerts/announce-templates.ts'
import { announceUpcomingCategories } from '../webhooks/alerts/announce-upcoming-categories.ts'
import { readCategoryCost } from '../messages/costs/category-cost.ts'
import { announceChanges } from '../webhooks/alerts/announce-whatsapp-accounts.ts'
import { deleteOldAttemptCounts, deleteOldDeliveries } from '../webhooks/queue/retention-store.ts'
import { claimJob, finishJob } from './due-jobs.ts'

export interface JobLog {
  /** Returns a function to call when the run ends. */
  start(job: Fact, everySeconds: number): (result: { failed: boolean }) => void
}

type HousekeepingConfig = Pick<Config, 'retentionDays' | 'outcomeUnknownAfterSeconds'> & {
  /** Defaults to `retentionDays`. */
  requestLogDays?: number
  /** Called with the number of messages whose outcome was reported as unknown. */
  onOutcomesUnknown?: (messages: number) => void
  /** Records each run of each job, for the operator console. */
  jobLog?: JobLog
}

export interface Housekeeping {
  /**
   * Runs each job at its interval. A job never overlaps itself; a failed one runs again at its next interval, or
   * after five minutes.
   */
  start(): void
  /** Runs the jobs of these facts now, and waits for them. */
  run(...facts: (() => Fact)[]): Promise<void>
  /** Starts no more jobs and waits for running ones, so that the database can be closed. */
  stop(): Promise<void>
}

interface Job {
  everySeconds: number
  /** Says what it does. Its code identifies it. */
  fact: () => Fact
  /** `stopping` is aborted when the process stops: nothing else is claimed then. */
  run: (deps: Deps, config: HousekeepingConfig, stopping: AbortSignal) => Promise<unknown>
}

/** What depends on the age of data takes the earlier clock, so that a clock that is ahead loses nothing. */
function byAge(run: (deps: Deps, now: Date, config: HousekeepingConfig) => Promise<unknown>): Job['run'] {
  return async (deps, config) => run(deps, await readEarlierClock(deps.db, deps.now), config)
}

/**
 * Periodic work. Frequent work runs on every node; infrequent work runs on one of them, when the database says that it is due.
 * Runs on several nodes do not conflict.
 */
const jobs: Job[] = [
  {
    everySeconds: 3600,
    fact: jobFacts.deleteExpiredIdempotencyKeys,
    run: byAge(({ db }, now) => deleteExpiredIdempotencyKeys(db, now)),
  },
  {
    everySeconds: 3600,
    fact: jobFacts.deleteOldSeenReplies,
    run: byAge(({ db }, now) => deleteOldSeenReplies(db, now)),
  },
  {
    everySeconds: 600,
    fact: jobFacts.deleteExpiredOneTimeCodes,
    run: byAge(({ db }, now) => deleteOldCodes(db, now)),
  },
  {
    everySeconds: 3600,
    fact: jobFacts.createOrDropPartitions,
    run: byAge(async ({ db, log }, now, { retentionDays, requestLogDays }) => {
      // Rows get the time of the database.
      for (const { partition, error } of await createPartitions(db, await readDatabaseClock(db)))
        log.warn({ err: error, partition }, 'could not create a partition; trying again in an hour')
      const contentsDays = await findLongestStorage(db)
      await dropOldPartitions(db, now, retentionDays, {
        message_contents: contentsDays,
        ...(requestLogDays !== undefined && { api_requests: requestLogDays }),
      })
      await deleteOldCutoffs(db, now)
      await deleteOldCounts(db, now, retentionDays)
    }),
  },
  {
    everySeconds: 3600,
    fact: jobFacts.deleteOldDeliveries,
    // Apart from the partitions: it reads the whole queue, and a large one must not keep them from being dropped.
    run: byAge(async ({ db }, now, { retentionDays }) => {
      await deleteOldAttemptCounts(db, now)
      await deleteOldDeliveries(db, now, retentionDays)
    }),
  },
  {
    everySeconds: 3600,
    fact: jobFacts.deleteOldIdentities,
    run: byAge(({ db }, now, { retentionDays }) => deleteOldIdentities(db, { now, retentionDays })),
  },
  {
    everySeconds: 3600,
    fact: jobFacts.deleteOldContents,
    run: byAge(({ db }, now) => deleteOldContents(db, now)),
  },
  {
    everySeconds: 3600,
    fact: jobFacts.deleteExpiredSignIns,
    run: byAge(async ({ db }, now) => {
      await deleteExpiredSignIns(db, now)
      await deleteExpiredAccountViews(db, now)
    }),
  },
  {
    everySeconds: 3600,
    fact: jobFacts.deleteExpiredAuditEntries,
    run: byAge((deps, now) => expireAuditEntries(deps, new Date(now.getTime() - auditKeptDays * dayMilliseconds))),
  },
  { everySeconds: 600, fact: jobFacts.deleteExpiredFiles, run: cleanUpMedia },
  {
    everySeconds: 10,
    fact: jobFacts.updateMessageCounts,
    run: byAge(({ db }, now) => foldCounts(db, { now })),
  },
  {
    everySeconds: 3600,
    fact: jobFacts.aggregateOldCounts,
    run: byAge(async ({ db }, now) => {
      await foldOldBuckets(db, now)
      await deleteEmptyBuckets(db)
      await compactBuckets(db, now)
    }),
  },
  { everySeconds: 10, fact: jobFacts.recordStalePending, run: ({ db }) => recordStalePending(db) },
  { everySeconds: 7, fact: jobFacts.vacuum, run: ({ db }) => vacuumEmbedded(db) },
  {
    everySeconds: 10,
    fact: jobFacts.reportUnknownOutcomes,
    run: async (deps, { outcomeUnknownAfterSeconds, onOutcomesUnknown }) => {
      const messages = await reportUnknownOutcomes(deps, { afterSeconds: outcomeUnknownAfterSeconds })
      if (messages > 0) onOutcomesUnknown?.(messages)
    },
  },
  { everySeconds: 15, fact: jobFacts.syncTemplates, run: (deps, _, stopping) => syncDueTemplates(deps, stopping) },
  {
    everySeconds: 15,
    fact: jobFacts.checkAccounts,
    run: (deps, _, stopping) => checkDueAccounts(deps, stopping),
  },
  {
    everySeconds: 60,
    fact: jobFacts.refreshAccessTokens,
    run: (deps) => refreshDueTokens(deps, createRefreshAuditor(deps)),
  },
  {
    everySeconds: 3600,
    fact: jobFacts.createHealthRecords,
    run: ({ db }) => addMissingHealth(db),
  },
  { everySeconds: 15, fact: jobFacts.countLastHour, run: (deps, _, stopping) => measureTraffic(deps, stopping) },
  { everySeconds: 15, fact: jobFacts.countReach, run: (deps, _, stopping) => countReach(deps, stopping) },
  // A rejected token stops every send, so it must be known within seconds.
  { everySeconds: 3, fact: jobFacts.announceAccountChanges, run: announceChanges },
  { everySeconds: 5, fact: jobFacts.announceNotices, run: announceNotices },
  { everySeconds: 15, fact: jobFacts.announceFailingEndpoints, run: announceEndpoints },
  { everySeconds: 3, fact: jobFacts.announceTemplateChanges, run: announceTemplateChanges },
  {
    everySeconds: 5,
    fact: jobFacts.announceUpcomingCategories,
    run: (deps) => announceUpcomingCategories(deps, readCategoryCost),
  },
  {
    everySeconds: 15,
    fact: jobFacts.alertAboutThresholds,
    run: announceThresholds,
  },
  { everySeconds: 5, fact: jobFacts.sendDueAlerts, run: sendDueAlerts },
  { everySeconds: 60, fact: jobFacts.closeAlerts, run: ({ db }) => cleanUpAlerts(db) },
]

/** Work that is due less often is claimed in the database. */
const infrequentSeconds = 600
/**
 * How often to ask whether infrequent work is due. The first time is a minute after the start, because the clocks of a
 * machine that has just started can both be wrong, and partitions would be dropped too early.
 */
const askSeconds = 60

/** A job that calls WhatsApp can take longer. The next start completes what it leaves unfinished. */
const maxStopMilliseconds = 5_000

export function createHousekeeping(deps: Deps, config: HousekeepingConfig): Housekeeping {
  const queueJob = { everySeconds: 15, fact: jobFacts.checkQueue, run: createQueueWatch() }
  const runners = new Map([...jobs, queueJob].map((job) => [job.fact, createRunner(job, deps, config)] as const))
  const find = (named: () => Fact) => {
    const runner = runners.get(named)
    if (!runner) throw new Error(`there is no job ${named().code}`)
    return runner
  }
  return {
    start: () => runners.forEach((runner) => runner.start()),
    run: async (...named) => void (await Promise.all(named.map((fact) => find(fact).run()))),
    stop: async () => {
      const ended = Promise.all(runners.values().map((runner) => runner.stop()))
      await Promise.race([ended, delay(maxStopMilliseconds, undefined, { ref: false })])
    },
  }
}

function createRunner({ everySeconds, fact: createFact, run }: Job, deps: Deps, config: HousekeepingConfig) {
  let running: Promise<void> | undefined
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const fact = createFact()
  const infrequent = { code: fact.code, everySeconds }
  const isInfrequent = everySeconds >= infrequentSeconds
  // A job still running after the stop fails because its database is closed. That needs no action.
  const reportFailure = (error: unknown) =>
    deps.log[stopping.signal.aborted ? 'debug' : 'warn']({ err: error }, `could not ${inEnglish(fact)}`)
  const runOnce = async () => {
    const endRun = config.jobLog?.start(fact, everySeconds)
    let failed = false
    try {
      await run(deps, config, stopping.signal)
    } catch (error) {
      failed = true
      reportFailure(error)
    }
    endRun?.({ failed })
    if (isInfrequent) await finishJob(deps.db, infrequent, { failed })
  }
  const runIfDue = async () => {
    if (!isInfrequent || (await claimJob(deps.db, infrequent))) await runOnce()
  }
  const runUnlessRunning = (start: () => Promise<void>) =>
    (running ??= start()
      .catch(reportFailure)
      .finally(() => (running = undefined)))
  return {
    run: () => runUnlessRunning(runOnce),
    start: () => {
      const seconds = isInfrequent ? askSeconds : everySeconds
      timer ??= setInterval(() => void runUnlessRunning(runIfDue), seconds * 1000).unref()
    },
    stop: async () => {
      stopping.abort()
      clearInterval(timer)
      await running
    },
  }
}
