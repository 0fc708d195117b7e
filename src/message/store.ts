import { sql, type Kysely, type Selectable } from 'kysely'
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

/**
 * Messages without an outcome for more than a minute by the database's clock, all of them or only those
 * of the last hours. Reads all accounts: for operators only.
 */
export async function countPendingMessages(
  db: Kysely<Database>,
  { lastHours }: { lastHours?: number } = {},
): Promise<{ count: number; oldestSeconds: number }> {
  const { rows } = await sql<{ count: number; oldest_seconds: number }>`
    select count(*)::integer as count, coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as oldest_seconds
    from messages
    where status = 'pending' and created_at < now() - interval '1 minute'
      and created_at >= coalesce(now() - ${lastHours ?? null}::float8 * interval '1 hour', '-infinity')`.execute(db)
  return { count: rows[0]?.count ?? 0, oldestSeconds: rows[0]?.oldest_seconds ?? 0 }
}
