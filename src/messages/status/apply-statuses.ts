import type { MessageEvent } from '../../../contracts/events.ts'
import { erasedRecipient } from '../../../contracts/fields.ts'
import type { Deps } from '../../deps.ts'
import { type Caused, runForCallers, withCause } from '../../platform/db/traced.ts'
import { createFairBatcher } from '../../platform/fair-batch.ts'
import { recordEvents, type UnrecordedEvent } from '../../webhooks/events/store.ts'
import type { StoredMessage } from '../columns.ts'
import { applyReport, type StatusReport, withoutRecipient } from './advance.ts'
import { applyRecipientChoices, optedOutCode, toRejectedChoice } from '../suppressions/recipient-choices.ts'
import { addUp, noCounts, type StatusCounts } from './counts.ts'
import { lockMessages, type MessageReference, type StateChange, writeStates } from './store.ts'
import { toEvent } from './to-event.ts'

export type IncomingStatus = MessageReference & { report: StatusReport } & Caused

type ApplyDeps = Pick<Deps, 'db' | 'newId' | 'randomBytes' | 'announcements' | 'secrets' | 'tracing'>

/** Maximum number of statuses per transaction. More would lock their messages for too long. */
const maxStatuses = 1000
/** Transactions shrink while the database is slow or busy. PGlite runs nothing else during a transaction. */
const minStatuses = 200
const maxMilliseconds = 60
/** Number of statuses that an account adds to a transaction while other accounts wait. */
const shareOfAccount = 100
/** As in db/batched.ts. */
const maxInFlight = 2

/**
 * Applies statuses to their messages, and records an event and its deliveries for each change. When this returns, all
 * of it is durable. Concurrent statuses share a transaction, in which accounts take turns, so that many statuses of one
 * account do not delay those of others. If this throws, some statuses may have been applied; repeating all of them is
 * safe.
 */
export async function applyStatuses(deps: ApplyDeps, statuses: IncomingStatus[]): Promise<StatusCounts> {
  const byAccount = Map.groupBy(withCause(deps.tracing, statuses), ({ accountId }) => accountId)
  const applyBatched = batcherOf(deps)
  return addUp(await Promise.all([...byAccount].map(([accountId, own]) => applyBatched(accountId, own))))
}

type StatusBatcher = ReturnType<typeof createFairBatcher<IncomingStatus, StatusCounts>>

const batchers = new WeakMap<ApplyDeps['db'], StatusBatcher>()

/** All calls on the same database have the same dependencies. */
function batcherOf(deps: ApplyDeps): StatusBatcher {
  const known = batchers.get(deps.db)
  if (known) return known
  const batcher = createFairBatcher<IncomingStatus, StatusCounts>({
    ...batchOptions,
    run: (parts) => runForCallers(deps.tracing, 'apply_statuses', parts, () => applyAll(deps.db, deps, parts)),
    sum: addUp,
  })
  batchers.set(deps.db, batcher)
  return batcher
}

/**
 * Invalid data and deadlocks can be caused by one callback, so the batch is bisected. A lock timeout is caused by the
 * messages of one account, so each account is retried separately.
 */
function chooseRetry(error: unknown): 'halves' | 'keys' | 'none' {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (/^(22|23)/.test(code) || code === '40P01') return 'halves'
  return code === '55P03' ? 'keys' : 'none'
}

/** How the items of callbacks share transactions. */
export const batchOptions = {
  maxItems: maxStatuses,
  minItems: minStatuses,
  maxMilliseconds,
  now: () => performance.now(),
  share: shareOfAccount,
  maxInFlight,
  retry: chooseRetry,
}

type Callbacks = readonly (readonly IncomingStatus[])[]

async function applyAll(db: ApplyDeps['db'], deps: ApplyDeps, callbacks: Callbacks): Promise<StatusCounts[]> {
  const { counts, emitted } = await db.transaction().execute(async (trx) => {
    const messages = await lockMessages(trx, callbacks.flat())
    const { changes, events, counts } = fold(messages, callbacks)
    await writeStates(trx, changes)
    const optOuts = await applyRecipientChoices(trx, listRejected(events), deps)
    await recordEvents(trx, [...events.map(toUnrecordedEvent), ...optOuts], deps)
    return { counts, emitted: events.length }
  })
  // After the commit, so that the workers that it wakes find the deliveries.
  if (emitted > 0) deps.announcements.announce('deliveries')
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

export interface PendingEvent extends Caused {
  message: StoredMessage
  event: MessageEvent
}

/** Applies the statuses in the order of the callbacks, each to the result of the previous one. */
function fold(
  messages: StoredMessage[],
  callbacks: Callbacks,
): { counts: StatusCounts[]; changes: StateChange[]; events: PendingEvent[] } {
  const find = indexMessages(messages)
  /** The new state of each message. */
  const after = new Map<StoredMessage, StoredMessage>()
  const events: PendingEvent[] = []
  const apply = ({ report, cause, ...reference }: IncomingStatus): keyof StatusCounts => {
    const before = find(reference)
    if (!before) return 'unknown'
    const current = after.get(before) ?? before
    const { state, changed } = applyReport(current, current.to === erasedRecipient ? withoutRecipient(report) : report)
    const message = { ...current, ...state }
    after.set(before, message)
    const event = changed ? toEvent(message, report.at) : undefined
    if (event) events.push({ message, event, cause })
    return changed ? 'applied' : 'repeated'
  }
  const counts = callbacks.map((statuses) => {
    const ofCallback = noCounts()
    for (const status of statuses) ofCallback[apply(status)]++
    return ofCallback
  })
  const changes = Array.from(after, ([before, message]) => ({ before, message }))
  return { counts, changes, events }
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

export function toUnrecordedEvent({ message, event, cause }: PendingEvent): UnrecordedEvent {
  return {
    accountId: message.accountId,
    type: event.type,
    messageId: message.id,
    payload: JSON.stringify(event),
    cause,
  }
}
