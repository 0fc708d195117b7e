import type { MessageEvent } from '../../contracts/webhook.ts'
import type { Deps } from '../deps.ts'
import { encodeIdsInOrder } from '../ids.ts'
import { insertEvents, type NewEvent } from '../webhook/event-store.ts'
import { applyReport, type MessageState, type Report } from './status.ts'
import { lockMessages, writeStates, type MessageReference, type StateChange } from './status-store.ts'
import type { MessageRow } from './store.ts'
import { toEvent } from './to-event.ts'

export type StatusToTake = MessageReference & { report: Report }

/** What became of the statuses of a callback. */
export interface TakenStatuses {
  /** They changed the status of a message. */
  applied: number
  /** They told what was known already, or came too late to matter. */
  repeated: number
  /** No message of ours. */
  unknown: number
}

/**
 * Applies statuses in one transaction: the messages move forward, and each real change writes its
 * event and the deliveries of it. When this returns, all of it is durable.
 */
export async function takeStatuses(
  deps: Pick<Deps, 'db' | 'newId' | 'randomBytes'>,
  statuses: StatusToTake[],
): Promise<TakenStatuses> {
  if (statuses.length === 0) return { applied: 0, repeated: 0, unknown: 0 }
  return deps.db.transaction().execute(async (trx) => {
    const messages = await lockMessages(trx, statuses)
    const { changes, events, ...taken } = fold(messages, statuses)
    await writeStates(trx, changes)
    await insertEvents(trx, toNewEvents(deps, events, messages[0]?.database_now), () => deps.newId('dlv'))
    return taken
  })
}

interface Told {
  message: MessageRow
  event: MessageEvent
}

/** The statuses in the order of the callback, each applied to what the one before left. */
function fold(
  messages: MessageRow[],
  statuses: StatusToTake[],
): TakenStatuses & { changes: StateChange[]; events: Told[] } {
  const find = indexMessages(messages)
  const states = new Map<MessageRow, MessageState>()
  const taken = { applied: 0, repeated: 0, unknown: 0 }
  const events: Told[] = []
  for (const status of statuses) {
    const message = find(status)
    if (!message) {
      taken.unknown++
      continue
    }
    const { state, changed } = applyReport(states.get(message) ?? toState(message), status.report)
    states.set(message, state)
    taken[changed ? 'applied' : 'repeated']++
    const event = changed ? toEvent(message, state, status.report.at) : undefined
    if (event) events.push({ message, event })
  }
  const changes = [...states].map(([message, state]) => ({
    accountId: message.account_id,
    messageId: message.id,
    state,
  }))
  return { ...taken, changes, events }
}

function indexMessages(messages: MessageRow[]): (reference: MessageReference) => MessageRow | undefined {
  const byId = new Map(messages.map((message) => [`${message.account_id} ${message.id}`, message]))
  const byWamid = new Map(messages.map((message) => [`${message.account_id} ${message.wa_message_id}`, message]))
  return ({ accountId, messageId, waMessageId }) =>
    byId.get(`${accountId} ${messageId}`) ?? byWamid.get(`${accountId} ${waMessageId}`)
}

function toState(message: MessageRow): MessageState {
  return {
    status: message.status,
    waMessageId: message.wa_message_id,
    sentAt: message.sent_at,
    deliveredAt: message.delivered_at,
    readAt: message.read_at,
    failedAt: message.failed_at,
    error: message.error_code === null ? null : { code: message.error_code, message: message.error_message ?? '' },
  }
}

/** Ids by the database's time, so that the events of all nodes are in one order. */
function toNewEvents(deps: Pick<Deps, 'randomBytes'>, told: Told[], databaseNow: Date | undefined): NewEvent[] {
  if (!databaseNow) return []
  const ids = encodeIdsInOrder('evt', databaseNow.getTime(), told.length, deps.randomBytes)
  return told.map(({ message, event }, index) => ({
    accountId: message.account_id,
    id: ids[index] ?? '',
    type: event.type,
    messageId: message.id,
    payload: JSON.stringify(event),
    createdAt: databaseNow,
  }))
}
