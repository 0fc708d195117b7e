import type { Kysely } from 'kysely'
import type { Database } from '../platform/db/schema.ts'
import { messageColumns, type StoredMessage } from './columns.ts'

type Selection = {
  [Field in keyof typeof messageColumns]: `${(typeof messageColumns)[Field]['name']} as ${Field}`
}[keyof typeof messageColumns]

// `Object.entries` forgets which field has which column; the type above says it.
const selection = Object.entries(messageColumns).map(([field, { name }]) => `${name} as ${field}`) as Selection[]

export function findMessage(
  db: Kysely<Database>,
  accountId: string,
  messageId: string,
): Promise<StoredMessage | undefined> {
  return db
    .selectFrom('messages')
    .select(selection)
    .where('account_id', '=', accountId)
    .where('id', '=', messageId)
    .executeTakeFirst()
}

export interface MessageFilter {
  externalId?: string | undefined
  to?: string | undefined
  template?: string | undefined
  status?: StoredMessage['status'] | undefined
  /** Ids carry their time: the first id of a period bounds it. */
  fromId?: string | undefined
  untilId?: string | undefined
  /** Only messages older than this one: where the page before stopped. */
  beforeId?: string | undefined
}

/**
 * Status and template are in no index, since the one changes and the other is shared by many: what matches little
 * would be looked for in all messages of the account. So many are looked through at once, in some twenty milliseconds.
 */
const lookedThroughAtOnce = 50_000

export interface FoundMessages {
  rows: StoredMessage[]
  /** The message that was looked at last, when others behind it may match as well. */
  stoppedAt: string | undefined
}

/** Newest first; at most `limit`, and fewer where it has looked through as many as it does at once. */
export async function findMessages(
  db: Kysely<Database>,
  accountId: string,
  filter: MessageFilter,
  limit: number,
  lookThrough: number = lookedThroughAtOnce,
): Promise<FoundMessages> {
  const { template, status } = filter
  let query = findIndexed(db, accountId, filter).select(selection)
  if (template !== undefined) query = query.where('template_name', '=', template)
  if (status !== undefined) query = query.where('status', '=', status)
  // One more than asked for tells whether there are others.
  const matching = query.limit(limit + 1)
  const look = async (bound: string | undefined): Promise<FoundMessages> => {
    const rows = await (bound === undefined ? matching : matching.where('id', '>=', bound)).execute()
    return rows.length > limit
      ? { rows: rows.slice(0, limit), stoppedAt: rows[limit - 1]?.id }
      : { rows, stoppedAt: bound }
  }
  if (template === undefined && status === undefined) return look(undefined)
  // What matches often is among the newest few. The bound comes first: what is recorded meanwhile lies before it.
  const near = await look(await findBound(db, accountId, filter, Math.ceil(lookThrough / 25)))
  const isEnough = near.rows.length === limit || near.stoppedAt === undefined
  return isEnough ? near : look(await findBound(db, accountId, filter, lookThrough))
}

/** The last one that is looked at; undefined when all are. */
async function findBound(
  db: Kysely<Database>,
  accountId: string,
  filter: MessageFilter,
  lookThrough: number,
): Promise<string | undefined> {
  const row = await findIndexed(db, accountId, filter)
    .select('id')
    .offset(lookThrough - 1)
    .limit(1)
    .executeTakeFirst()
  return row?.id
}

/** By what an index leads to, the newest first. */
function findIndexed(db: Kysely<Database>, accountId: string, filter: MessageFilter) {
  const { externalId, to, fromId, untilId, beforeId } = filter
  let query = db.selectFrom('messages').where('account_id', '=', accountId)
  if (externalId !== undefined) query = query.where('external_id', '=', externalId)
  if (to !== undefined) query = query.where('to_number', '=', to)
  if (fromId !== undefined) query = query.where('id', '>=', fromId)
  if (untilId !== undefined) query = query.where('id', '<', untilId)
  if (beforeId !== undefined) query = query.where('id', '<', beforeId)
  return query.orderBy('id', 'desc')
}
