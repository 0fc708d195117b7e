import type { History } from './history.ts'
import type { EntryOf } from './ledger.ts'

/** The timeout of an attempt in a campaign. */
export const webhookTimeoutMilliseconds = 1_000

/** A larger share of repeated webhooks fails the campaign. */
export const maxRepeatedShare = 0.01

export interface RepeatedWebhooks {
  /** Events whose receiver answered an attempt with 2xx in time. */
  acknowledged: number
  /** Later attempts of these events. */
  repeated: number
  /** Repeats although a process had read the 2xx, but not recorded it. */
  read: number
  /** Repeats of events whose 2xx no process had read. */
  unread: number
}

/**
 * Attempts after a 500, a timeout or a lost connection are no repeats: a receiver expects them. An answer to a process
 * that was killed before is a lost connection.
 */
export function countRepeatedWebhooks({ webhooks, answersRead, nodes }: History): RepeatedWebhooks {
  const counts = { acknowledged: 0, repeated: 0, read: 0, unread: 0 }
  const kills = nodes.filter(({ change }) => change === 'killed')
  const killedAt = new Map(kills.map(({ node, life, at }) => [`${node} ${life}`, at]))
  const isAcknowledged = ({ at, answer, sender }: EntryOf<'webhook'>) =>
    isSuccess(answer.status) &&
    answer.milliseconds < webhookTimeoutMilliseconds &&
    at < (killedAt.get(`${sender.node} ${sender.life}`) ?? Infinity)
  for (const [eventId, attempts] of webhooks) {
    const acknowledgedAt = Math.min(...attempts.filter(isAcknowledged).map(({ at }) => at))
    if (acknowledgedAt === Infinity) continue
    counts.acknowledged++
    const readAt = Math.min(...(answersRead.get(eventId) ?? []))
    for (const { at, answer } of attempts) {
      const receivedAt = at - answer.milliseconds
      if (receivedAt <= acknowledgedAt) continue
      counts.repeated++
      counts[readAt <= receivedAt ? 'read' : 'unread']++
    }
  }
  return counts
}

function isSuccess(status: number | undefined): boolean {
  return status !== undefined && status >= 200 && status < 300
}
