import type { listMessages as contract, MessagePage } from '../../../contracts/api/message.ts'
import { invalidField } from '../../../contracts/errors.ts'
import type { InputOf } from '../../../contracts/procedure.ts'
import type { Caller } from '../../accounts/authenticate.ts'
import type { Deps } from '../../deps.ts'
import { firstIdAt } from '../../platform/ids.ts'
import { toMessage } from '../message.ts'
import { findMessages } from '../store.ts'

/** A cursor is the id of the last message looked at: it stays right while new messages come in. */
const cursorPattern = /^msg_[0-9a-z]{26}$/

export async function listMessages(
  deps: Pick<Deps, 'db'>,
  caller: Caller,
  input: InputOf<typeof contract>,
  lookThrough?: number,
): Promise<MessagePage> {
  const { cursor, limit, from, until, ...filter } = input
  if (cursor !== undefined && !cursorPattern.test(cursor))
    throw invalidField('cursor', 'must be the nextCursor of the page before. Leave it out for the first page.')
  const { rows, stoppedAt } = await findMessages(
    deps.db,
    caller.accountId,
    {
      ...filter,
      fromId: from === undefined ? undefined : firstIdAt('msg', new Date(from)),
      untilId: until === undefined ? undefined : firstIdAt('msg', new Date(until)),
      beforeId: cursor,
    },
    limit,
    lookThrough,
  )
  return { items: rows.map(toMessage), ...(stoppedAt !== undefined && { nextCursor: stoppedAt }) }
}
