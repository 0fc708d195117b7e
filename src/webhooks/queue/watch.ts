import type { Deps } from '../../deps.ts'
import { type QueueState, readQueueState } from './store.ts'

interface QueueFinding {
  code: string
  message: string
  fix: string
}

/** A worker claims a delivery within a second of its due time. */
const maxLagSeconds = 60

/** Returns the problems of the delivery queue. */
export function findQueueProblems({ oldestDueSeconds }: Pick<QueueState, 'oldestDueSeconds'>): QueueFinding[] {
  if (oldestDueSeconds <= maxLagSeconds) return []
  return [
    {
      code: 'deliveries_late',
      message: `Webhook deliveries are late: the oldest has been due for ${Math.round(oldestDueSeconds)} seconds.`,
      fix: 'Check that a process with the role worker (or all) is running, that it can reach the database, and that slow endpoints are not using all its slots (waybill_webhook_deliveries_in_flight).',
    },
  ]
}

/** Logs problems of the delivery queue when they appear and when they are resolved. */
export function createQueueWatch(): (deps: Pick<Deps, 'db' | 'log'>) => Promise<void> {
  let previous = new Set<string>()
  return async ({ db, log }) => {
    const findings = findQueueProblems(await readQueueState(db))
    const current = new Set(findings.map(({ code }) => code))
    for (const { code, message, fix } of findings) if (!previous.has(code)) log.error({ finding: code, fix }, message)
    for (const code of previous.difference(current)) log.info({ finding: code }, 'webhook deliveries are on time again')
    previous = current
  }
}
