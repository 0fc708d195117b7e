import type { MessageStatus } from '../../contracts/api/message.ts'
import { failureCode, type ReportedStatus } from './scenarios.ts'
import type { UpstreamMessage } from './history.ts'

/**
 * The required final state of a message, computed only from what WhatsApp reported. It is written from the documented
 * guarantees and shares no code with the service, so that a mistake in either one is found.
 */
export interface Expected {
  /** Any of these is correct. */
  statuses: readonly MessageStatus[]
  waMessageId: string | undefined
  deliveredAt: string | undefined
  readAt: string | undefined
  failedAt: string | undefined
  errorCode: string | undefined
  /** In this order. */
  events: readonly ReportedStatus[]
  /** `message.sent` may come first if the response was stored before the first status arrived. */
  mayEmitSent: boolean
}

/** A delivery overrides a failure, since the recipient has the message. */
const ranks: Record<MessageStatus, number> = { pending: 0, sent: 1, failed: 2, delivered: 3, read: 4 }

/** One for each possible outcome: a status that was reported but not acknowledged may or may not have been applied. */
export function expectAnyOf(message: UpstreamMessage): Expected[] {
  const acknowledged = message.statuses.filter((status) => status.acknowledged)
  const expected = expectAfter(message, acknowledged)
  return acknowledged.length === message.statuses.length
    ? [expected]
    : [expected, expectAfter(message, message.statuses)]
}

function expectAfter(message: UpstreamMessage, reports: UpstreamMessage['statuses']): Expected {
  const events: ReportedStatus[] = []
  for (const { status } of reports) {
    if (ranks[status] <= ranks[events.at(-1) ?? 'pending']) continue
    // A message that is read has been delivered.
    if (status === 'read' && events.at(-1) !== 'delivered') events.push('delivered')
    events.push(status)
  }
  const last = events.at(-1)
  const earliest = (...wanted: ReportedStatus[]) => {
    const times = reports.filter(({ status }) => wanted.includes(status)).map(({ timestamp }) => timestamp)
    return times.length === 0 ? undefined : new Date(Math.min(...times) * 1000).toISOString()
  }
  const hasFailed = last === 'failed'
  return {
    statuses: last ? [last] : withoutStatus(message),
    waMessageId: message.accepted[0]?.waMessageId,
    deliveredAt: earliest('delivered', 'read'),
    readAt: earliest('read'),
    failedAt: hasFailed ? earliest('failed') : undefined,
    errorCode: hasFailed ? String(failureCode) : undefined,
    events,
    mayEmitSent: message.accepted.length > 0 && events[0] !== 'sent',
  }
}

/** A process knows the outcome of its send unless it was killed or got no response. */
function withoutStatus({ accepted }: UpstreamMessage): MessageStatus[] {
  return accepted.length > 0 ? ['pending', 'sent'] : ['pending', 'failed']
}
