import type { exportMessages as contract, Message } from '../../../contracts/api/message.ts'
import type { InputOf } from '../../../contracts/procedure.ts'
import type { Caller } from '../../accounts/authenticate.ts'
import type { Deps } from '../../deps.ts'
import { listMessages } from './read.ts'

export type ExportInput = InputOf<typeof contract>

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
