import { sql, type Kysely, type Selectable } from 'kysely'
import type { Database, MessagesTable, StoredComponent } from '../db/schema.ts'
import type { SendFacts } from './decide.ts'
import type { EarlierRequest, IdempotentRequest } from './idempotency.ts'

export type MessageRow = Selectable<MessagesTable>

/** How long a key is kept, and how long a send can take at the most (deadline upstream, and slack). */
const idempotencyKept = sql.raw(`interval '24 hours'`)
const longestSend = sql.raw(`interval '60 seconds'`)

interface SendFactsRow {
  whatsapp_account_id: string
  phone_number_id: string
  waba_id: string
  access_token_encrypted: string
  active: boolean
  inactive_reason: string | null
  template_status: string | null
  parameter_format: string
  components: StoredComponent[]
  tells_sent: boolean
}

/** Everything that a send needs to know, in one statement. */
export async function findSendFacts(
  db: Kysely<Database>,
  accountId: string,
  {
    whatsAppAccountId,
    template,
    language,
  }: { whatsAppAccountId: string | undefined; template: string; language: string },
): Promise<SendFacts> {
  const { rows } = await sql<SendFactsRow>`
    select wa.id as whatsapp_account_id, wa.phone_number_id, wa.waba_id, wa.access_token_encrypted, wa.active, wa.inactive_reason,
      t.status as template_status, t.parameter_format, t.components,
      exists (
        select from webhook_endpoints e where e.account_id = wa.account_id and 'message.sent' = any (e.events)
      ) as tells_sent
    from whatsapp_accounts wa
    left join templates t on t.account_id = wa.account_id and t.waba_id = wa.waba_id and t.name = ${template} and t.language = ${language}
    where wa.account_id = ${accountId} and ${whatsAppAccountId === undefined ? sql`wa.is_default` : sql`wa.id = ${whatsAppAccountId}`}`.execute(
    db,
  )
  const row = rows[0]
  if (!row) return { whatsAppAccount: undefined, template: undefined, tellsSent: false }
  return {
    tellsSent: row.tells_sent,
    whatsAppAccount: {
      id: row.whatsapp_account_id,
      phoneNumberId: row.phone_number_id,
      wabaId: row.waba_id,
      accessTokenEncrypted: row.access_token_encrypted,
      active: row.active,
      inactiveReason: row.inactive_reason,
    },
    template:
      row.template_status === null
        ? undefined
        : { status: row.template_status, parameterFormat: row.parameter_format, components: row.components },
  }
}

/** The first request of this account with this key, unless the key has expired. */
export async function findEarlierRequest(
  db: Kysely<Database>,
  accountId: string,
  key: string,
): Promise<EarlierRequest | undefined> {
  const { rows } = await sql<MessageRow & { request_hash: Uint8Array; may_be_running: boolean }>`
    select m.*, i.request_hash, i.created_at > now() - ${longestSend} as may_be_running
    from idempotency_keys i
    join messages m on m.account_id = i.account_id and m.id = i.message_id
    where i.account_id = ${accountId} and i.key = ${key} and i.created_at > now() - ${idempotencyKept}`.execute(db)
  const row = rows[0]
  return row && { requestHash: row.request_hash, mayBeRunning: row.may_be_running, message: row }
}

export interface PendingMessage {
  id: string
  accountId: string
  whatsAppAccountId: string
  to: string
  template: string
  language: string
  externalId: string | undefined
  createdAt: Date
  /** An endpoint wants to be told that it is sent. */
  tellsSent: boolean
}

/**
 * Records the message before WhatsApp hears of it, and claims its idempotency key in the same
 * statement. False when another request holds the key: then nothing is recorded.
 */
export async function recordPending(
  db: Kysely<Database>,
  message: PendingMessage,
  request: IdempotentRequest | undefined,
): Promise<boolean> {
  const values = sql`${message.accountId}, ${message.id}, ${message.whatsAppAccountId}, 'pending', ${message.to}, ${message.template}, ${message.language}, ${message.externalId ?? null}::text, ${message.createdAt}::timestamptz`
  const into = sql`insert into messages (account_id, id, whatsapp_account_id, status, to_number, template_name, template_language, external_id, created_at)`
  if (!request) {
    await sql`${into} values (${values})`.execute(db)
    return true
  }
  const { rows } = await sql`
    with claimed as (
      insert into idempotency_keys as i (account_id, key, request_hash, message_id)
      values (${message.accountId}, ${request.key}, ${request.requestHash}, ${message.id})
      on conflict (account_id, key) do update
        set request_hash = excluded.request_hash, message_id = excluded.message_id, created_at = now()
        where i.created_at <= now() - ${idempotencyKept}
      returning 1
    )
    ${into} select ${values} from claimed returning id`.execute(db)
  return rows.length > 0
}

/** WhatsApp accepted the message. A status that overtook this answer keeps what it said. */
export async function settleAccepted(
  db: Kysely<Database>,
  message: { accountId: string; id: string },
  { waMessageId, at }: { waMessageId: string; at: Date },
): Promise<void> {
  await sql`
    update messages set
      status = case when status = 'pending' then 'sent' else status end,
      wa_message_id = coalesce(wa_message_id, ${waMessageId}),
      sent_at = coalesce(sent_at, ${at}::timestamptz)
    where account_id = ${message.accountId} and id = ${message.id}`.execute(db)
}

/**
 * The message was certainly not sent. `releaseKey`: a retry with the same idempotency key may send;
 * otherwise it answers with this failure.
 */
export async function settleFailed(
  db: Kysely<Database>,
  message: { accountId: string; id: string },
  { code, reason, at, releaseKey }: { code: string; reason: string; at: Date; releaseKey: string | undefined },
): Promise<void> {
  await sql`
    with released as (
      delete from idempotency_keys
      where account_id = ${message.accountId} and key = ${releaseKey ?? null}::text and message_id = ${message.id}
    )
    update messages set status = 'failed', failed_at = ${at}::timestamptz, error_code = ${code}, error_message = ${reason}
    where account_id = ${message.accountId} and id = ${message.id} and status = 'pending'`.execute(db)
}

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

/** Deletes keys past their day; returns how many. Reads all accounts: time alone ends a key. */
export async function deleteExpiredIdempotencyKeys(db: Kysely<Database>): Promise<number> {
  const result = await sql`delete from idempotency_keys where created_at <= now() - ${idempotencyKept}`.execute(db)
  return Number(result.numAffectedRows ?? 0n)
}

/** Messages without an outcome for more than a minute. Reads all accounts: for operators only. */
export async function countPendingMessages(db: Kysely<Database>): Promise<{ count: number; oldestSeconds: number }> {
  const { rows } = await sql<{ count: number; oldest_seconds: number }>`
    select count(*)::integer as count, coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as oldest_seconds
    from messages where status = 'pending' and created_at < now() - interval '1 minute'`.execute(db)
  return { count: rows[0]?.count ?? 0, oldestSeconds: rows[0]?.oldest_seconds ?? 0 }
}
