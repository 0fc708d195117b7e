import { sql, type Kysely } from 'kysely'
import { groupAlike } from '../db/alike.ts'
import { arrayOf } from '../db/array-of.ts'
import { joined } from '../db/joined.ts'
import type { Database, StoredComponent } from '../db/schema.ts'
import { statement } from '../db/statement.ts'
import type { SendFacts } from './decide.ts'
import type { EarlierRequest, IdempotentRequest } from './idempotency.ts'
import type { MessageRow } from './store.ts'

/** How long a key is kept, and how long a send can take at the most (deadline upstream, and slack). */
const idempotencyKept = `interval '24 hours'`
const longestSend = `interval '60 seconds'`

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

export interface SendQuestion {
  accountId: string
  /** The WhatsApp account asked for; undefined: the default one. */
  whatsAppAccountId: string | undefined
  template: string
  language: string
}

const sendFacts = `wa.id as whatsapp_account_id, wa.phone_number_id, wa.waba_id, wa.access_token_encrypted, wa.active,
    wa.inactive_reason, t.status as template_status, t.parameter_format, t.components,
    exists (
      select from webhook_endpoints e where e.account_id = wa.account_id and 'message.sent' = any (e.events)
    ) as tells_sent`

const findOneFacts = statement<SendFactsRow>(
  'find_send_facts',
  `select ${sendFacts}
  from whatsapp_accounts wa
  left join templates t on t.account_id = wa.account_id and t.waba_id = wa.waba_id and t.name = $3 and t.language = $4
  where wa.account_id = $1 and (case when $2::text is null then wa.is_default else wa.id = $2 end)`,
)

/** `(select $1)`: for a list whose length it sees PostgreSQL would plan anew each time, at twice the cost of the rest. */
const findManyFacts = statement<SendFactsRow & { n: number }>(
  'find_many_send_facts',
  `select r.n::integer as n, ${sendFacts}
  from unnest((select $1::text[]), $2::text[], $3::text[], $4::text[]) with ordinality
    as r (account_id, whatsapp_account_id, template, language, n)
  join whatsapp_accounts wa on wa.account_id = r.account_id
    and (case when r.whatsapp_account_id is null then wa.is_default else wa.id = r.whatsapp_account_id end)
  left join templates t on t.account_id = wa.account_id and t.waba_id = wa.waba_id and t.name = r.template and t.language = r.language`,
)

/** Everything that a send needs to know, in one statement. */
export const findSendFacts = joined<SendQuestion, SendFacts>({
  one: async (db, { accountId, whatsAppAccountId, template, language }) =>
    toSendFacts((await findOneFacts(db, [accountId, whatsAppAccountId ?? null, template, language]))[0]),
  many: async (db, questions) => {
    const groups = groupAlike(questions, ({ accountId, whatsAppAccountId, template, language }) =>
      JSON.stringify([accountId, whatsAppAccountId, template, language]),
    )
    const asked = groups.map(({ question }) => question)
    const rows = await findManyFacts(db, [
      asked.map(({ accountId }) => accountId),
      asked.map(({ whatsAppAccountId }) => whatsAppAccountId ?? null),
      asked.map(({ template }) => template),
      asked.map(({ language }) => language),
    ])
    const answers = Array.from(questions, () => toSendFacts(undefined))
    for (const row of rows) {
      const facts = toSendFacts(row)
      for (const place of groups[row.n - 1]?.places ?? []) answers[place] = facts
    }
    return answers
  },
})

function toSendFacts(row: SendFactsRow | undefined): SendFacts {
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
    select m.*, i.request_hash, i.created_at > now() - ${sql.raw(longestSend)} as may_be_running
    from idempotency_keys i
    join messages m on m.account_id = i.account_id and m.id = i.message_id
    where i.account_id = ${accountId} and i.key = ${key} and i.created_at > now() - ${sql.raw(idempotencyKept)}`.execute(
    db,
  )
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

/** A message to record, and the idempotency key that it claims. */
export interface PendingRecord {
  message: PendingMessage
  request: IdempotentRequest | undefined
}

/** The values of a message in the order in which the statements below take them. */
function valuesOf(message: PendingMessage): unknown[] {
  const { accountId, id, whatsAppAccountId, to, template, language, externalId, createdAt } = message
  return [accountId, id, whatsAppAccountId, to, template, language, externalId ?? null, createdAt]
}

/** The same of many messages: an array for each column. */
function columnsOf(messages: readonly PendingMessage[]): unknown[] {
  return [
    arrayOf(messages, ({ accountId }) => accountId),
    arrayOf(messages, ({ id }) => id),
    arrayOf(messages, ({ whatsAppAccountId }) => whatsAppAccountId),
    arrayOf(messages, ({ to }) => to),
    messages.map(({ template }) => template),
    messages.map(({ language }) => language),
    messages.map(({ externalId }) => externalId ?? null),
    arrayOf(messages, ({ createdAt }) => createdAt),
  ]
}

const insertPending = `insert into messages
    (account_id, id, whatsapp_account_id, status, to_number, template_name, template_language, external_id, created_at)`

const recordOne = statement<object>(
  'record_pending',
  `${insertPending} values ($1, $2, $3, 'pending', $4, $5, $6, $7, $8)`,
)

/** Of several requests of one batch with one key the first one claims it. */
const recordMany = statement<{ id: string }>(
  'record_many_pending',
  `with request as (
    select * from unnest(
      $1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::timestamptz[], $9::text[], $10::bytea[]
    ) with ordinality as r (
      account_id, id, whatsapp_account_id, to_number, template_name, template_language, external_id, created_at, key, request_hash, n
    )
  ), claimed as (
    insert into idempotency_keys as i (account_id, key, request_hash, message_id)
    select distinct on (account_id, key) account_id, key, request_hash, id
    from request where key is not null
    order by account_id, key, n
    on conflict (account_id, key) do update
      set request_hash = excluded.request_hash, message_id = excluded.message_id, created_at = now()
      where i.created_at <= now() - ${idempotencyKept}
    returning message_id
  )
  ${insertPending}
  select account_id, id, whatsapp_account_id, 'pending', to_number, template_name, template_language, external_id, created_at
  from request
  where key is null or id in (select message_id from claimed)
  returning id`,
)

const recordManyUnclaimed = statement<object>(
  'record_many_unclaimed',
  `${insertPending}
  select account_id, id, whatsapp_account_id, 'pending', to_number, template_name, template_language, external_id, created_at
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::timestamptz[])
    as r (account_id, id, whatsapp_account_id, to_number, template_name, template_language, external_id, created_at)`,
)

/**
 * Records the message before WhatsApp hears of it, and claims its idempotency key in the same
 * statement. False when another request holds the key: then nothing is recorded.
 */
export const recordPending = joined<PendingRecord, boolean>({
  one: async (db, record) => {
    if (record.request) return (await recordAll(db, [record]))[0] ?? false
    await recordOne(db, valuesOf(record.message))
    return true
  },
  many: recordAll,
})

async function recordAll(db: Kysely<Database>, records: readonly PendingRecord[]): Promise<boolean[]> {
  const columns = columnsOf(records.map(({ message }) => message))
  if (records.every(({ request }) => request === undefined)) {
    await recordManyUnclaimed(db, columns)
    return records.map(() => true)
  }
  const recorded = await recordMany(db, [
    ...columns,
    records.map(({ request }) => request?.key ?? null),
    records.map(({ request }) => request?.requestHash ?? null),
  ])
  const ids = new Set(recorded.map((row) => row.id))
  return records.map(({ message }) => ids.has(message.id))
}

export interface Acceptance {
  message: PendingMessage
  waMessageId: string
  at: Date
}

/**
 * The row is there: this is an update, written so that it goes by the key whatever the planner believes. A
 * plan for an `update` that is made while the table is small reads all of it, and goes on doing so when it
 * has become large; one that is made each time costs more than it runs.
 */
const acceptance = `
  on conflict (account_id, id) do update set
    status = case when m.status = 'pending' then 'sent' else m.status end,
    wa_message_id = coalesce(m.wa_message_id, excluded.wa_message_id),
    sent_at = coalesce(m.sent_at, excluded.sent_at)`

const insertAccepted = `insert into messages as m
    (account_id, id, whatsapp_account_id, status, to_number, template_name, template_language, external_id, created_at,
    wa_message_id, sent_at)`

/** What is found by the wamid, should a status come without our id (status-store.ts). */
const insertWaMessageId = 'insert into wa_message_ids (hash, account_id, message_id)'

const acceptOne = statement<object>(
  'settle_accepted',
  `with findable as (${insertWaMessageId} values (hashtextextended($9, 0), $1, $2))
  ${insertAccepted} values ($1, $2, $3, 'sent', $4, $5, $6, $7, $8, $9, $10) ${acceptance}`,
)

const acceptMany = statement<object>(
  'settle_many_accepted',
  `with accepted as (
    select * from unnest(
      $1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::timestamptz[], $9::text[],
      $10::timestamptz[]
    ) as a (
      account_id, id, whatsapp_account_id, to_number, template_name, template_language, external_id, created_at,
      wa_message_id, at
    )
  ), findable as (
    ${insertWaMessageId} select hashtextextended(wa_message_id, 0), account_id, id from accepted
  )
  ${insertAccepted}
  select account_id, id, whatsapp_account_id, 'sent', to_number, template_name, template_language, external_id, created_at,
    wa_message_id, at
  from accepted
  ${acceptance}`,
)

/** WhatsApp accepted the message. A status that overtook this answer keeps what it said. */
export const settleAccepted = joined<Acceptance, void>({
  one: async (db, { message, waMessageId, at }) => {
    await acceptOne(db, [...valuesOf(message), waMessageId, at])
  },
  many: async (db, acceptances) => {
    // In one order, as statuses lock them.
    const sorted = acceptances.toSorted((a, b) => (keyOf(a.message) < keyOf(b.message) ? -1 : 1))
    await acceptMany(db, [
      ...columnsOf(sorted.map(({ message }) => message)),
      sorted.map(({ waMessageId }) => waMessageId),
      arrayOf(sorted, ({ at }) => at),
    ])
    return acceptances.map(() => undefined)
  },
})

function keyOf({ accountId, id }: PendingMessage): string {
  return accountId + id
}

/**
 * The message was certainly not sent. `releaseKey`: a retry with the same idempotency key may send;
 * otherwise it answers with this failure. False when there is no such message that is pending.
 */
export async function settleFailed(
  db: Kysely<Database>,
  message: { accountId: string; id: string },
  { code, reason, at, releaseKey }: { code: string; reason: string; at: Date; releaseKey: string | undefined },
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    with released as (
      delete from idempotency_keys
      where account_id = ${message.accountId} and key = ${releaseKey ?? null}::text and message_id = ${message.id}
    )
    update messages set status = 'failed', failed_at = ${at}::timestamptz, error_code = ${code}, error_message = ${reason}
    where account_id = ${message.accountId} and id = ${message.id} and status = 'pending'`.execute(db)
  return numAffectedRows === 1n
}

/** A statement deletes this many keys at most, so that none of them is long. */
const expiredKeysAtOnce = 5_000

/** Deletes keys past their day; returns how many. Reads all accounts: time alone ends a key. */
export async function deleteExpiredIdempotencyKeys(
  db: Kysely<Database>,
  batchSize: number = expiredKeysAtOnce,
): Promise<number> {
  let deleted = 0
  for (;;) {
    // Asked of the row again: a key that was claimed anew since it was looked for is no longer expired.
    const { numAffectedRows } = await sql`
      delete from idempotency_keys
      where created_at <= now() - ${sql.raw(idempotencyKept)} and ctid = any(array(
        select ctid from idempotency_keys where created_at <= now() - ${sql.raw(idempotencyKept)}
        limit ${sql.lit(batchSize)}
      ))`.execute(db)
    deleted += Number(numAffectedRows ?? 0)
    if (Number(numAffectedRows ?? 0) < batchSize) return deleted
  }
}
