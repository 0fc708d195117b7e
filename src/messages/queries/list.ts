import type { listMessages as contract, MessagePage } from '../../../contracts/api/message.ts'
import { invalidField } from '../../../contracts/errors.ts'
import type { InputOf } from '../../../contracts/procedure.ts'
import type { Caller } from '../../accounts/authenticate.ts'
import type { Deps } from '../../deps.ts'
import { firstIdAt } from '../../platform/ids.ts'
import { toMessage } from '../message.ts'
import { findMessages, type MessageFilter } from '../store.ts'

/** A cursor is the id of the last message looked at: it stays right while new messages come in. */
const cursorPattern = /^msg_[0-9a-z]{26}$/

export type ListInput = InputOf<typeof contract>

/** Filters that only the dashboard has. */
type DashboardFilters = Pick<MessageFilter, 'whatsAppAccountId' | 'country' | 'failure'>

/** The filters of a list without its page. */
export function toFilter({
  from,
  until,
  ...filter
}: Omit<ListInput, 'cursor' | 'limit'> & DashboardFilters): MessageFilter {
  return {
    ...filter,
    fromId: from === undefined ? undefined : firstIdAt('msg', new Date(from)),
    untilId: until === undefined ? undefined : firstIdAt('msg', new Date(until)),
  }
}

/** `search` is what a search adds to the filters. */
export async function listMessages(
  deps: Pick<Deps, 'db'>,
  caller: Caller,
  { cursor, limit, ...filters }: ListInput & DashboardFilters,
  { lookThrough, search = {} }: { lookThrough?: number; search?: MessageFilter } = {},
): Promise<MessagePage> {
  if (cursor !== undefined && !cursorPattern.test(cursor))
    throw invalidField('cursor', 'must be the nextCursor of the previous page. Leave it out for the first page.')
  const filter = { ...toFilter(filters), ...search, beforeId: cursor }
  const { rows, stoppedAt } = await findMessages(deps.db, caller.accountId, filter, limit, lookThrough)
  return { items: rows.map(toMessage), ...(stoppedAt !== undefined && { nextCursor: stoppedAt }) }
}
