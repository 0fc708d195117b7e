import type { Kysely } from 'kysely'
import type { listMessages as contract, MessagePage } from '../../../contracts/api/message.ts'
import type { InputOf } from '../../../contracts/procedure.ts'
import type { Caller } from '../../accounts/authenticate.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import { firstIdAt } from '../../platform/ids.ts'
import type { StoredMessage } from '../columns.ts'
import { toMessage } from '../message.ts'
import { findAddressedNames } from '../recipients/store.ts'
import { findMessages, type MessageFilter } from '../store.ts'

export type ListInput = InputOf<typeof contract>

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
