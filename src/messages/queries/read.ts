import type { Kysely } from 'kysely'
import type { z } from 'zod'
import type {
  exportMessages as exportMessagesContract,
  listMessages as listMessagesContract,
  Message,
  MessagePage,
} from '../../../contracts/api/message.ts'
import type { getMessage as getMessageContract, StoredReply } from '../../../contracts/dashboard/message.ts'
import { errors, ServiceError } from '../../../contracts/errors.ts'
import { MessageRepliedEvent } from '../../../contracts/events.ts'
import type { InputOf } from '../../../contracts/procedure.ts'
import type { Caller } from '../../accounts/authenticate.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import { firstIdAt } from '../../platform/ids.ts'
import { toDelivery } from '../../webhooks/deliveries/delivery.ts'
import { findAttempts, findDeliveriesOfMessage } from '../../webhooks/deliveries/store.ts'
import { adviseOnFailure } from '../../whatsapp/failure-advice.ts'
import { type StoredMessage, toMessage } from '../message.ts'
import { findAddressedNames } from '../recipients/store.ts'
import { findEventsOfMessage, findMessage, findMessages, type MessageFilter } from '../store.ts'

export type ListInput = InputOf<typeof listMessagesContract>

/** Filters that only the dashboard has. */
type DashboardFilters = Pick<MessageFilter, 'whatsAppAccountId' | 'country' | 'failure' | 'outcomeUnknown'>

/** The filters of a list, without cursor and limit. */
export async function toFilter(
  db: Kysely<Database>,
  accountId: string,
  { from, until, to, recipient = to, ...filter }: Omit<ListInput, 'cursor' | 'limit'> & DashboardFilters,
): Promise<MessageFilter> {
  return {
    ...filter,
    to: recipient === undefined ? undefined : await findAddressedNames(db, accountId, to ?? recipient),
    fromId: from === undefined ? undefined : firstIdAt('msg', new Date(from)),
    untilId: until === undefined ? undefined : firstIdAt('msg', new Date(until)),
  }
}

export async function listMessages(
  deps: Pick<Deps, 'db'>,
  caller: Caller,
  input: ListInput & DashboardFilters,
  options: { maxExamined?: number } = {},
): Promise<MessagePage> {
  const { rows, ...page } = await findPage(deps, caller, input, options)
  return { ...page, items: rows.map(toMessage) }
}

/**
 * A cursor is the ID of the last message examined, so it stays valid while new messages arrive. `search`: the filters that a search adds.
 */
export async function findPage(
  deps: Pick<Deps, 'db'>,
  caller: Caller,
  { cursor, limit, ...filters }: ListInput & DashboardFilters,
  { maxExamined, search = {} }: { maxExamined?: number; search?: MessageFilter } = {},
): Promise<{ rows: StoredMessage[]; nextCursor?: string }> {
  const filter = { ...(await toFilter(deps.db, caller.accountId, filters)), ...search, beforeId: cursor }
  const { rows, cursor: nextCursor } = await findMessages(deps.db, caller.accountId, filter, limit, maxExamined)
  return { rows, ...(nextCursor !== undefined && { nextCursor }) }
}

export async function getMessage(
  deps: Pick<Deps, 'db'>,
  caller: Caller,
  { messageId }: { messageId: string },
): Promise<Message> {
  return toMessage(await requireMessage(deps, caller.accountId, messageId))
}

export async function requireMessage(
  { db }: Pick<Deps, 'db'>,
  accountId: string,
  messageId: string,
): Promise<StoredMessage> {
  const row = await findMessage(db, accountId, messageId)
  if (!row) throw new ServiceError('MESSAGE_NOT_FOUND', errors.MESSAGE_NOT_FOUND.example)
  return row
}

/** The dashboard shows the advice separately from WhatsApp's own text. */
function describe(stored: StoredMessage): Pick<z.output<(typeof getMessageContract)['output']>, 'message' | 'failure'> {
  const message = toMessage(stored)
  if (stored.errorCode === null) return { message }
  const error = { code: stored.errorCode, message: stored.errorMessage ?? '' }
  return { message: { ...message, error }, failure: adviseOnFailure(error) }
}

const maxDeliveries = 100
const maxEvents = 100

/**
 * Returns a message, an explanation of its failure, its replies and its webhook deliveries. Without `withReplies`, they
 * contain nothing that the recipient wrote or chose.
 */
export async function getMessageHistory(
  { db }: Pick<Deps, 'db'>,
  { accountId, messageId }: z.output<(typeof getMessageContract)['input']>,
  { withReplies }: { withReplies: boolean },
): Promise<z.output<(typeof getMessageContract)['output']>> {
  const stored = await requireMessage({ db }, accountId, messageId)
  const rows = await findDeliveriesOfMessage(db, accountId, messageId, maxDeliveries)
  const ids = rows.map((row) => row.id)
  const events = await findEventsOfMessage(db, accountId, messageId, maxEvents)
  const payloads = new Map(withReplies ? events.map(({ id, payload }) => [id, payload]) : [])
  const attempts = Map.groupBy(await findAttempts(db, accountId, ids), (attempt) => attempt.deliveryId)
  return {
    ...describe(stored),
    replies: events.flatMap(({ type, payload }) => (type === 'message.replied' ? toReplies(payload, withReplies) : [])),
    deliveries: rows.map((row) => ({
      ...toDelivery(row, attempts.get(row.id) ?? [], { enabled: row.enabled, withReplies }),
      endpointId: row.endpointId,
      url: row.url,
      ...payloadOf(payloads.get(row.eventId)),
    })),
  }
}

/** Skips kinds of replies that a later version added. */
function toReplies(payload: string, withReplies: boolean): StoredReply[] {
  const { data: event } = MessageRepliedEvent.safeParse(JSON.parse(payload))
  if (!event) return []
  const { kind, text } = event.data.reply
  return [{ at: event.timestamp, kind, ...(withReplies && kind === 'button' && text !== undefined && { label: text }) }]
}

function payloadOf(payload: string | undefined): { payload?: string } {
  return payload === undefined ? {} : { payload }
}

export type ExportInput = InputOf<typeof exportMessagesContract>

/** As many as a page of a list holds at most, so that no statement takes longer than one of theirs. */
const pageSize = 100

/**
 * Reads the pages of a list, each when it is asked for. Newest first, because IDs do not become visible in their order:
 * a reader of the newest end would miss messages that another node records at the same time. Messages that are recorded
 * during an export are newer than its position, so it ends. A page can be empty if few messages match.
 */
export async function* exportMessages(
  deps: Pick<Deps, 'db'>,
  caller: Caller,
  { format: _format, cursor, ...filters }: ExportInput,
): AsyncGenerator<Message[], void, void> {
  let position = cursor
  do {
    const page = await listMessages(deps, caller, { ...filters, cursor: position, limit: pageSize })
    yield page.items
    position = page.nextCursor
  } while (position !== undefined)
}
