import type { MessageStatus } from '../../../contracts/api/message.ts'
import type { MessageState } from '../message.ts'

/** Delivered outranks failed: if several devices report both, the recipient has the message. */
const order = ['pending', 'sent', 'failed', 'delivered', 'read'] as const satisfies MessageStatus[]

/** WhatsApp repeats statuses and sends them out of order, so a status only ever moves forward. */
export function advance(current: MessageStatus, reported: MessageStatus): MessageStatus {
  return order.indexOf(reported) > order.indexOf(current) ? reported : current
}

/** A status as WhatsApp reports it. */
export interface StatusReport {
  waMessageId: string
  status: 'sent' | 'delivered' | 'read' | 'failed'
  at: Date
  /** What WhatsApp charges, if the status says so. */
  pricing?: string | undefined
  error: { code: string; message: string } | undefined
  /** The recipient's number as WhatsApp writes it, if it differs from `to`. */
  waId?: string | undefined
  userId?: string | undefined
}

/** Removes the names of an erased recipient: the wamid contains the number, and the error message can quote it. */
export function withoutRecipient({ error, ...report }: StatusReport): StatusReport {
  return {
    ...report,
    waMessageId: '',
    waId: undefined,
    userId: undefined,
    error: error && { code: error.code, message: '' },
  }
}

/**
 * Returns the state after a report, and whether the status changed, which emits an event. The final state does not
 * depend on the order of the reports or on repeated ones.
 */
export function applyReport(state: MessageState, report: StatusReport): { state: MessageState; changed: boolean } {
  const status = advance(state.status, report.status)
  const failed = status === 'failed'
  return {
    changed: status !== state.status,
    state: {
      status,
      waMessageId: state.waMessageId ?? report.waMessageId,
      sentAt: earliest(state.sentAt, report.status === 'sent' ? report.at : null),
      // WhatsApp reports no delivery of a message that is read at once.
      deliveredAt: earliest(state.deliveredAt, isArrival(report.status) ? report.at : null),
      readAt: earliest(state.readAt, report.status === 'read' ? report.at : null),
      waId: state.waId ?? report.waId ?? null,
      userId: state.userId ?? report.userId ?? null,
      pricing: choosePricing(state.pricing, report.status === 'failed' ? undefined : report.pricing),
      // A delivered message is not failed, even if one device reported a failure.
      ...(failed ? applyFailure(state, report) : { failedAt: null, errorCode: null, errorMessage: null }),
    },
  }
}

/** Of several failures, the earliest is kept; of two at the same time, the one with the lower code. */
function applyFailure({ failedAt, errorCode, errorMessage }: MessageState, report: StatusReport): Failure {
  const known = { failedAt, errorCode, errorMessage }
  if (report.status !== 'failed') return known
  const { code = null, message = null } = report.error ?? {}
  const reported = { failedAt: report.at, errorCode: code, errorMessage: message }
  if (failedAt === null || report.at < failedAt) return reported
  const sameTime = report.at.getTime() === failedAt.getTime()
  return sameTime && (code ?? '') < (errorCode ?? '') ? reported : known
}

/** The statuses of a message normally agree on its price. If not, a billable one wins, so that no cost is missed. */
function choosePricing(known: string | null, reported: string | undefined): string | null {
  if (known === null || reported === undefined) return known ?? reported ?? null
  const [isKnownFree, isReportedFree] = [known.includes('/'), reported.includes('/')]
  if (isKnownFree !== isReportedFree) return isKnownFree ? reported : known
  return reported < known ? reported : known
}

function isArrival(status: StatusReport['status']): boolean {
  return status === 'delivered' || status === 'read'
}

type Failure = Pick<MessageState, 'failedAt' | 'errorCode' | 'errorMessage'>

function earliest(known: Date | null, reported: Date | null): Date | null {
  if (known === null || reported === null) return known ?? reported
  return reported < known ? reported : known
}
