import { type Kysely, sql } from 'kysely'
import type { WhatsAppAccountRef } from '../../whatsapp-accounts/store.ts'
import type { Database } from '../../platform/db/schema.ts'

/** A status that names a message of ours. */
export interface StatusOfMessage extends WhatsAppAccountRef {
  messageId: string
  /** When the message was sent, from its ID. */
  sentAt: Date
}

export interface RecordedMissing extends WhatsAppAccountRef {
  statuses: number
  /** These are its first missing messages, or the first for a long time. */
  isNew: boolean
}

/**
 * Counts those statuses whose message is missing, and returns the counts of each WhatsApp account. A message from before
 * the WhatsApp account was added belongs to someone else. Writes to all accounts; each row names its own.
 */
export async function recordMissing(
  db: Kysely<Database>,
  statuses: readonly StatusOfMessage[],
  keptDays: number,
): Promise<RecordedMissing[]> {
  const isOver = sql`(h.missing_at is null or now() - h.missing_at > ${keptDays} * interval '1 day')`
  const { rows } = await sql<RecordedMissing>`
    with reported as (
      select * from unnest(
        ${statuses.map(({ accountId }) => accountId)}::text[],
        ${statuses.map(({ whatsAppAccountId }) => whatsAppAccountId)}::text[],
        ${statuses.map(({ messageId }) => messageId)}::text[],
        ${statuses.map(({ sentAt }) => sentAt.toISOString())}::timestamptz[]
      ) as r (account_id, whatsapp_account_id, message_id, sent_at)
    ), missing as (
      select r.account_id, r.whatsapp_account_id, count(*) as statuses, min(r.sent_at) as sent_from,
        max(r.sent_at) as sent_until
      from reported r
      join whatsapp_accounts w on w.id = r.whatsapp_account_id and w.created_at <= r.sent_at
      where not exists (select from messages m where m.account_id = r.account_id and m.id = r.message_id)
      group by r.account_id, r.whatsapp_account_id
      order by r.whatsapp_account_id
    )
    update whatsapp_account_health h set
      missing_statuses = case when ${isOver} then 0 else h.missing_statuses end + missing.statuses,
      missing_since = case when ${isOver} then now() else h.missing_since end,
      missing_at = now(),
      missing_sent_from = case when ${isOver} then sent_from else least(h.missing_sent_from, sent_from) end,
      missing_sent_until = case when ${isOver} then sent_until else greatest(h.missing_sent_until, sent_until) end
    from missing
    where h.account_id = missing.account_id and h.whatsapp_account_id = missing.whatsapp_account_id
    returning h.account_id as "accountId", h.whatsapp_account_id as "whatsAppAccountId",
      missing.statuses::integer as statuses, h.missing_since = h.missing_at as "isNew"`.execute(db)
  return rows
}
