import type { MessageEvent } from '../../../contracts/events.ts'
import { erasedRecipient, unknownCode } from '../../../contracts/fields.ts'
import { inTransaction } from '../../platform/db/statement.ts'
import type { TracedItem } from '../../platform/db/traced.ts'
import { recordEvents, toUnrecordedEvent } from '../../webhooks/events.ts'
import type { WhatsAppIdentity } from '../../whatsapp/callbacks/read-identity.ts'
import { explainFailure } from '../../whatsapp/failure-advice.ts'
import { type ApplyDeps, batchedByAccount, noCounts, type ApplyCounts } from '../batched-by-account.ts'
import { type StoredMessage, toMessageFacts } from '../message.ts'
import { storeIdentities } from '../recipients/store-identities.ts'
import { type IdentityReport, isUserId } from '../recipients/plan-identities.ts'
import { canBeOneNumber } from '../suppressions/number-key.ts'
import { applyRecipientChoices, optedOutCode, toRejectedChoice } from '../suppressions/recipient-choices.ts'
import { applyReport, type StatusReport, withoutRecipient } from './advance.ts'
import { lockMessages, type MessageReference, type StateChange, writeStates } from './store.ts'

export interface IncomingStatus extends MessageReference, TracedItem {
  report: Omit<StatusReport, 'waId' | 'userId'>
  /** How WhatsApp names the recipient; undefined if it says nothing. */
  recipient?: WhatsAppIdentity | undefined
  /** The WhatsApp Business Account that the status is about. */
  wabaId?: string | undefined
}

/** Applies statuses to their messages, and records an event and its deliveries for each change. */
export const applyStatuses = batchedByAccount<IncomingStatus>({ name: 'apply_statuses', run: applyAll })

type Callbacks = readonly (readonly IncomingStatus[])[]

async function applyAll(deps: ApplyDeps, callbacks: Callbacks): Promise<ApplyCounts[]> {
  const { counts, emitted } = await inTransaction(deps.db, async (trx) => {
    const messages = await lockMessages(trx, callbacks.flat())
    const { changes, events, identityReports, counts } = fold(messages, callbacks)
    await writeStates(trx, changes)
    await storeIdentities(deps, trx, identityReports)
    const optOuts = await applyRecipientChoices(deps, trx, listRejected(events))
    const recorded = events.map(({ message, event, trace }) => toUnrecordedEvent(message, event, trace))
    await recordEvents(deps, trx, [...recorded, ...optOuts])
    return { counts, emitted: events.length }
  })
  // After the commit, so that the workers that it wakes find the deliveries.
  if (emitted > 0) deps.notifications.notify('deliveries')
  return counts
}

/** Recipients whose messages failed because they had opted out. */
function listRejected(events: PendingEvent[]) {
  return events.flatMap(({ message, event }) =>
    event.type === 'message.failed' && event.data.error.code === optedOutCode
      ? [toRejectedChoice(message, new Date(event.timestamp))]
      : [],
  )
}

interface PendingEvent extends TracedItem {
  message: StoredMessage
  event: MessageEvent
}

/** Applies the statuses in the order of the callbacks, each to the result of the previous one. */
function fold(
  messages: StoredMessage[],
  callbacks: Callbacks,
): { counts: ApplyCounts[]; changes: StateChange[]; events: PendingEvent[]; identityReports: IdentityReport[] } {
  const find = indexMessages(messages)
  /** The new state of each message. */
  const after = new Map<StoredMessage, StoredMessage>()
  const events: PendingEvent[] = []
  const identityReports: IdentityReport[] = []
  const apply = ({ report: reported, trace, wabaId, ...reference }: IncomingStatus): keyof ApplyCounts => {
    const before = find(reference)
    if (!before) return 'unknown'
    const current = after.get(before) ?? before
    const recipient = withoutOtherNumber(reference.recipient, current.to)
    const report = { ...reported, ...toNames(current.to, recipient) }
    const { state, changed } = applyReport(current, current.to === erasedRecipient ? withoutRecipient(report) : report)
    const message = { ...current, ...state }
    after.set(before, message)
    // Later statuses of a message repeat the names.
    if (recipient && (message.waId !== current.waId || message.userId !== current.userId))
      identityReports.push(toIdentityReport(message, recipient, wabaId, report.at))
    if (changed) for (const event of toEvents(current, message, report.at)) events.push({ message, event, trace })
    return changed ? 'applied' : 'repeated'
  }
  const counts = callbacks.map((statuses) => {
    const ofCallback = noCounts()
    for (const status of statuses) ofCallback[apply(status)]++
    return ofCallback
  })
  const changes = Array.from(after, ([before, message]) => ({ before, message }))
  return { counts, changes, events, identityReports }
}

/** A number that cannot be a spelling of the recipient's is ignored, so that it makes nobody one person with another. */
function withoutOtherNumber(recipient: WhatsAppIdentity | undefined, to: string): WhatsAppIdentity | undefined {
  if (recipient?.waId === undefined || isUserId(to) || canBeOneNumber(recipient.waId, to)) return recipient
  return { ...recipient, waId: undefined }
}

function toNames(to: string, recipient: WhatsAppIdentity | undefined): Pick<StatusReport, 'waId' | 'userId'> {
  const { waId, userId } = recipient ?? {}
  return { waId: waId === to ? undefined : waId, userId }
}

function toIdentityReport(
  { accountId, to }: StoredMessage,
  { waId, userId, parentUserId }: WhatsAppIdentity,
  wabaId: string | undefined,
  at: Date,
): IdentityReport {
  const numbers = [...(isUserId(to) ? [] : [to]), ...(waId === undefined ? [] : [waId])]
  return { accountId, wabaId, numbers, userId: userId ?? (isUserId(to) ? to : undefined), parentUserId, at }
}

function indexMessages(messages: StoredMessage[]): (reference: MessageReference) => StoredMessage | undefined {
  const byId = new Map(messages.map((message) => [`${message.accountId} ${message.id}`, message]))
  let byWamid: Map<string, StoredMessage> | undefined
  return ({ accountId, messageId, waMessageId }) => {
    const message = byId.get(`${accountId} ${messageId}`)
    if (message) return message
    // Built only if needed: few statuses have no ID of ours, or an unknown one.
    byWamid ??= new Map(messages.map((each) => [`${each.accountId} ${each.waMessageId}`, each]))
    return byWamid.get(`${accountId} ${waMessageId}`)
  }
}

/**
 * Returns the webhook events for a change of the status. A message that is read first has been delivered: the delivery is
 * reported too, before it.
 */
export function toEvents(before: StoredMessage, message: StoredMessage, at: Date): MessageEvent[] {
  const event = toEvent(message, at)
  if (!event) return []
  return message.status === 'read' && before.status !== 'delivered' ? [toImpliedDelivery(message, at), event] : [event]
}

function toImpliedDelivery(message: StoredMessage, at: Date): MessageEvent {
  const { id: messageId, waMessageId } = message
  return {
    type: 'message.delivered',
    timestamp: at.toISOString(),
    data: {
      messageId,
      waMessageId: waMessageId ?? '',
      status: 'delivered',
      implied: true,
      ...toMessageFacts(message),
    },
  }
}

/** Returns the webhook event for the current status of a message; undefined for `pending`. */
function toEvent(message: StoredMessage, at: Date): MessageEvent | undefined {
  const timestamp = at.toISOString()
  const dataWith = <Status extends string>(status: Status) => ({
    messageId: message.id,
    waMessageId: message.waMessageId ?? '',
    status,
    ...toMessageFacts(message),
  })
  switch (message.status) {
    case 'pending':
      return undefined
    case 'sent':
      return { type: 'message.sent', timestamp, data: dataWith('sent') }
    case 'delivered':
      return { type: 'message.delivered', timestamp, data: dataWith('delivered') }
    case 'read':
      return { type: 'message.read', timestamp, data: dataWith('read') }
    case 'failed': {
      const { errorCode: code, errorMessage } = message
      const error =
        code === null
          ? { code: unknownCode, message: 'WhatsApp gave no reason' }
          : { code, message: explainFailure(code, errorMessage ?? '') }
      return { type: 'message.failed', timestamp, data: { ...dataWith('failed'), error } }
    }
  }
}

/** Reported once for a message that stays pending. */
export function toUnknownOutcomeEvent(message: StoredMessage, at: Date): MessageEvent {
  return {
    type: 'message.outcome_unknown',
    timestamp: at.toISOString(),
    data: { messageId: message.id, status: 'pending', ...toMessageFacts(message) },
  }
}
