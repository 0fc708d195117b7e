import { sql, type Kysely } from 'kysely'
import type { Database } from '../db/schema.ts'
import type { MessageState } from './status.ts'
import type { MessageRow } from './store.ts'

/** How a status names its message: by our id, which we gave WhatsApp for this, or by the wamid alone. */
export interface MessageReference {
  accountId: string
  messageId: string | undefined
  waMessageId: string
}

/**
 * The messages that statuses are about, locked in one order so that two callbacks with the same
 * messages wait for each other instead of deadlocking. Also tells the database's time.
 */
export async function lockMessages(
  db: Kysely<Database>,
  references: MessageReference[],
): Promise<(MessageRow & { database_now: Date })[]> {
  const byId = references.filter((reference) => reference.messageId !== undefined)
  const byWamid = references.filter((reference) => reference.messageId === undefined)
  const { rows } = await sql<MessageRow & { database_now: Date }>`
    select m.*, clock_timestamp() as database_now
    from messages m
    where (m.account_id, m.id) in (
      select account_id, id from unnest(${byId.map((r) => r.accountId)}::text[], ${byId.map((r) => r.messageId)}::text[]) as r (account_id, id)
      union
      select found.account_id, found.id
      from unnest(${byWamid.map((r) => r.accountId)}::text[], ${byWamid.map((r) => r.waMessageId)}::text[]) as r (account_id, wa_message_id)
      join messages found on found.account_id = r.account_id and found.wa_message_id = r.wa_message_id
    )
    order by m.account_id, m.id
    for update of m`.execute(db)
  return rows
}

export interface StateChange {
  accountId: string
  messageId: string
  state: MessageState
}

/** Writes the new states of messages that are locked. */
export async function writeStates(db: Kysely<Database>, changes: StateChange[]): Promise<void> {
  if (changes.length === 0) return
  const column = <T>(pick: (change: StateChange) => T) => changes.map(pick)
  await sql`
    update messages m set
      status = s.status, wa_message_id = s.wa_message_id, sent_at = s.sent_at, delivered_at = s.delivered_at,
      read_at = s.read_at, failed_at = s.failed_at, error_code = s.error_code, error_message = s.error_message
    from unnest(
      ${column((change) => change.accountId)}::text[], ${column((change) => change.messageId)}::text[],
      ${column(({ state }) => state.status)}::text[], ${column(({ state }) => state.waMessageId)}::text[],
      ${column(({ state }) => state.sentAt)}::timestamptz[], ${column(({ state }) => state.deliveredAt)}::timestamptz[],
      ${column(({ state }) => state.readAt)}::timestamptz[], ${column(({ state }) => state.failedAt)}::timestamptz[],
      ${column(({ state }) => state.error?.code ?? null)}::text[], ${column(({ state }) => state.error?.message ?? null)}::text[]
    ) as s (account_id, id, status, wa_message_id, sent_at, delivered_at, read_at, failed_at, error_code, error_message)
    where m.account_id = s.account_id and m.id = s.id`.execute(db)
}
