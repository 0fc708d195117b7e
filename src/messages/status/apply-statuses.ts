import type { MessageEvent } from '../../../contracts/events.ts'
import { erasedRecipient } from '../../../contracts/fields.ts'
import type { Deps } from '../../deps.ts'
import { type Caused, runForCallers, withCause } from '../../platform/db/traced.ts'
import { createFairBatcher } from '../../platform/fair-batch.ts'
import { recordEvents, type UnrecordedEvent } from '../../webhooks/events/store.ts'
import type { StoredMessage } from '../columns.ts'
import { applyReport, type Report, withoutRecipient } from './advance.ts'
import { applyRecipientChoices, optedOutCode, toRejectedChoice } from '../suppressions/recipient-choices.ts'
import { addUp, noCounts, type StatusCounts } from './counts.ts'
import { lockMessages, type MessageReference, type StateChange, writeStates } from './store.ts'
import { toEvent } from './to-event.ts'

export type IncomingStatus = MessageReference & { report: Report } & Caused

type ApplyDeps = Pick<Deps, 'db' | 'newId' | 'randomBytes' | 'announcements' | 'secrets' | 'tracing'>

/** Statuses of one transaction: more of them hold their messages locked, and others up, for too long. */
const maxStatuses = 1000
/** A database that is slow or busy gets smaller transactions. PGlite runs nothing else beside one. */
const minStatuses = 200
const maxMilliseconds = 60
/** Statuses that an account adds to a transaction in its turn, while other accounts wait. */
const shareOfAccount = 100
/** As in db/batched.ts. */
const maxInFlight = 2

/**
 * Applies statuses: the messages move forward, and each real change writes its event and the
 * deliveries of it. When this returns, all of it is durable. Statuses that come at once share a
 * transaction, in which the accounts take turns: many statuses of one account do not delay another's.
 * When it throws, some of them may have been applied; repeating all of them is safe.
 */
export async function applyStatuses(deps: ApplyDeps, statuses: IncomingStatus[]): Promise<StatusCounts> {
  const byAccount = Map.groupBy(withCause(deps.tracing, statuses), ({ accountId }) => accountId)
  const take = batcherOf(deps)
  return addUp(await Promise.all([...byAccount].map(([accountId, own]) => take(accountId, own))))
}

type StatusBatcher = ReturnType<typeof createFairBatcher<IncomingStatus, StatusCounts>>

const batchers = new WeakMap<ApplyDeps['db'], StatusBatcher>()

/** All calls on one database come with the same dependencies. */
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
 * Data that PostgreSQL rejects or a deadlock can be the fault of one callback. A lock that did not come in time
 * is of the messages of one account.
 */
function retryOf(error: unknown): 'halves' | 'keys' | 'none' {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (/^(22|23)/.test(code) || code === '40P01') return 'halves'
  return code === '55P03' ? 'keys' : 'none'
}

/** How items of callbacks share transactions. */
export const batchOptions = {
  maxItems: maxStatuses,
  minItems: minStatuses,
  maxMilliseconds,
  now: () => performance.now(),
  share: shareOfAccount,
  maxInFlight,
  retry: retryOf,
}

type Callbacks = readonly (readonly IncomingStatus[])[]

async function applyAll(db: ApplyDeps['db'], deps: ApplyDeps, callbacks: Callbacks): Promise<StatusCounts[]> {
  const { taken, told } = await db.transaction().execute(async (trx) => {
    const messages = await lockMessages(trx, callbacks.flat())
    const { changes, events, taken } = fold(messages, callbacks)
    await writeStates(trx, changes)
    const optOuts = await applyRecipientChoices(trx, listRejected(events), deps)
    await recordEvents(trx, [...events.map(toUnrecordedEvent), ...optOuts], deps)
    return { taken, told: events.length }
  })
  // After the commit: the workers find the deliveries that they are woken for.
  if (told > 0) deps.announcements.announce('deliveries')
  return taken
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

/** The statuses in the order of the callbacks, each applied to what the one before left. */
function fold(
  messages: StoredMessage[],
  callbacks: Callbacks,
): { taken: StatusCounts[]; changes: StateChange[]; events: PendingEvent[] } {
  const find = indexMessages(messages)
  /** What becomes of the messages that statuses are about. */
  const after = new Map<StoredMessage, StoredMessage>()
  const events: PendingEvent[] = []
  const take = ({ report, cause, ...reference }: IncomingStatus): keyof StatusCounts => {
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
  const taken = callbacks.map((statuses) => {
    const counts = noCounts()
    for (const status of statuses) counts[take(status)]++
    return counts
  })
  const changes = Array.from(after, ([before, message]) => ({ before, message }))
  return { taken, changes, events }
}

function indexMessages(messages: StoredMessage[]): (reference: MessageReference) => StoredMessage | undefined {
  const byId = new Map(messages.map((message) => [`${message.accountId} ${message.id}`, message]))
  let byWamid: Map<string, StoredMessage> | undefined
  return ({ accountId, messageId, waMessageId }) => {
    const message = byId.get(`${accountId} ${messageId}`)
    if (message) return message
    // Few come without our id, or with one that we do not know.
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
