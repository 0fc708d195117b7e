import type { EventPage, listEvents as contract } from '../../../contracts/api/event.ts'
import { MessageEvent } from '../../../contracts/events.ts'
import type { InputOf } from '../../../contracts/procedure.ts'
import type { Caller } from '../../accounts/authenticate.ts'
import type { Deps } from '../../deps.ts'
import { findEvents } from './store.ts'

/**
 * Events become visible in the order of their IDs (see `recordEvents`), so a reader that continues after its last event
 * misses none.
 */
export async function listEvents(
  deps: Pick<Deps, 'db'>,
  caller: Caller,
  input: InputOf<typeof contract>,
): Promise<EventPage> {
  const { cursor, limit, from, until, type, messageId } = input
  const rows = await findEvents(
    deps.db,
    caller.accountId,
    {
      type,
      messageId,
      from: from === undefined ? undefined : new Date(from),
      until: until === undefined ? undefined : new Date(until),
      afterId: cursor,
    },
    // One extra event shows whether there is a next page.
    limit + 1,
  )
  const items = rows
    .slice(0, limit)
    .map((row) => ({ eventId: row.id, event: MessageEvent.parse(JSON.parse(row.payload)) }))
  const last = items.at(-1)
  return { items, ...(rows.length > limit && last && { nextCursor: last.eventId }) }
}
