import type { Kysely, Selectable } from 'kysely'
import type { Database, MessagesTable } from '../db/schema.ts'

export type MessageRow = Selectable<MessagesTable>

export function findMessage(
  db: Kysely<Database>,
  accountId: string,
  messageId: string,
): Promise<MessageRow | undefined> {
  return db
    .selectFrom('messages')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('id', '=', messageId)
    .executeTakeFirst()
}

export interface MessageFilter {
  externalId?: string | undefined
  to?: string | undefined
  template?: string | undefined
  status?: MessageRow['status'] | undefined
  /** Ids carry their time: the first id of a period bounds it. */
  fromId?: string | undefined
  untilId?: string | undefined
  /** Only messages older than this one: the last of the page before. */
  beforeId?: string | undefined
}

/** Newest first; at most `limit`. */
export function findMessages(
  db: Kysely<Database>,
  accountId: string,
  filter: MessageFilter,
  limit: number,
): Promise<MessageRow[]> {
  const { externalId, to, template, status, fromId, untilId, beforeId } = filter
  let query = db.selectFrom('messages').selectAll().where('account_id', '=', accountId)
  if (externalId !== undefined) query = query.where('external_id', '=', externalId)
  if (to !== undefined) query = query.where('to_number', '=', to)
  if (template !== undefined) query = query.where('template_name', '=', template)
  if (status !== undefined) query = query.where('status', '=', status)
  if (fromId !== undefined) query = query.where('id', '>=', fromId)
  if (untilId !== undefined) query = query.where('id', '<', untilId)
  if (beforeId !== undefined) query = query.where('id', '<', beforeId)
  return query.orderBy('id', 'desc').limit(limit).execute()
}
