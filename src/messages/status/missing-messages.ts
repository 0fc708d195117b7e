import { type Kysely, sql } from 'kysely'
import { dayMilliseconds } from '../../../contracts/time.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import { timeOfId } from '../../platform/ids.ts'
import { missingKeptDays } from '../../whatsapp-accounts/health/findings.ts'
import { logFindings } from '../../whatsapp-accounts/health/facts.ts'
import type { WhatsAppAccountRef } from '../../whatsapp-accounts/store.ts'

/** Older messages may have been deleted after their retention period, which is at least a day. */
const maxAgeMilliseconds = dayMilliseconds
/** The clock of another process may be ahead. */
const maxAheadMilliseconds = 3_600_000
/** Further statuses of the same second are not counted. */
const maxHeld = 1_000
const flushMilliseconds = 1_000

type WatchDeps = Pick<Deps, 'db' | 'log' | 'now' | 'callbacks' | 'publicUrl' | 'graphVersion'>

/** Receives the IDs of messages that statuses name, if some of them were not found. Never fails the callback. */
export type NoteMissing = (statuses: readonly (WhatsAppAccountRef & { messageId: string })[]) => void

/**
 * Watches statuses that name a message of ours which the database does not have. After a failover or a restore, these
 * messages are lost, and nothing else shows it. Stores them once a second, so that a flood costs one statement, and logs
 * the first of each WhatsApp account.
 */
export function watchMissingMessages(deps: WatchDeps, onMissing: (statuses: number) => void): NoteMissing {
  let held: StatusOfMessage[] = []
  let timer: NodeJS.Timeout | undefined

  async function flush(): Promise<void> {
    const statuses = held
    held = []
    timer = undefined
    for (const { statuses: count, isNew, ...ref } of await recordMissing(deps.db, statuses, missingKeptDays)) {
      onMissing(count)
      if (isNew) await logFindings(deps, [ref])
    }
  }

  return (statuses) => {
    const now = deps.now().getTime()
    for (const { accountId, whatsAppAccountId, messageId } of statuses) {
      if (held.length >= maxHeld) return
      const sentAt = timeOfId(messageId)
      const age = now - sentAt.getTime()
      if (age <= maxAgeMilliseconds && age >= -maxAheadMilliseconds)
        held.push({ accountId, whatsAppAccountId, messageId, sentAt })
    }
    if (held.length > 0)
      timer ??= setTimeout(() => {
        flush().catch((error: unknown) => deps.log.debug({ err: error }, 'could not store missing messages'))
      }, flushMilliseconds).unref()
  }
}

/** A status that names a message of ours. */
interface StatusOfMessage extends WhatsAppAccountRef {
  messageId: string
  /** When the message was sent, from its ID. */
  sentAt: Date
}

interface RecordedMissing extends WhatsAppAccountRef {
  statuses: number
  /** These are its first missing messages, or the first for a long time. */
  isNew: boolean
}

/**
 * Counts those statuses whose message is missing, and returns the counts of each WhatsApp account. A message from before
 * the WhatsApp account was added belongs to someone else. Writes to all accounts; each row names its own.
 */
async function recordMissing(
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
