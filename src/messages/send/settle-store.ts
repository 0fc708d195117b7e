import { type Kysely, sql } from 'kysely'
import { erasedRecipient } from '../../../contracts/fields.ts'
import { batched } from '../../platform/db/batched.ts'
import { arraysOf, type Columns, type Lists, listsOf, namesOf, parametersOf } from '../../platform/db/columns.ts'
import type { Database } from '../../platform/db/schema.ts'
import { statement } from '../../platform/db/statement.ts'
import { type MessageKey, recordedColumns, type RecordedMessage, stateColumns } from '../message.ts'
import type { SendJournalEntry } from '../send-journal.ts'
import { maxSendDuration } from './idempotency-store.ts'

export interface Acceptance {
  message: RecordedMessage
  waMessageId: string
  sentAt: Date
}

/**
 * Updates an existing row, but is written as an upsert, so that PostgreSQL always uses the primary key. An `update`
 * that is planned while the table is small scans all of it, and keeps that plan when the table has grown. Replanning it
 * each time costs more than running it.
 */
const acceptance = `
  on conflict (account_id, id) do update set
    status = case when m.status = 'pending' then 'sent' else m.status end,
    -- A wamid contains the number of its recipient, who may have been erased during the send.
    wa_message_id = case when m.to_number = '${erasedRecipient}' then '' else coalesce(m.wa_message_id, excluded.wa_message_id) end,
    sent_at = coalesce(m.sent_at, excluded.sent_at)`

type Outcome = Omit<Acceptance, 'message'>

const outcomeColumns: Columns<Outcome> = { waMessageId: stateColumns.waMessageId, sentAt: stateColumns.sentAt }
const acceptedColumns = { ...recordedColumns, ...outcomeColumns }

const insertAccepted = `insert into messages as m (status, ${namesOf(acceptedColumns)})`

/** Indexes the message by its wamid, for statuses without our ID (status/store.ts). */
const insertWaMessageId = 'insert into wa_message_ids (hash, account_id, message_id)'

const acceptOne = statement<RecordedMessage & Outcome>(
  'settle_accepted',
  ($) => `with findable as (
    ${insertWaMessageId} values (hashtextextended(${$.waMessageId}, 0), ${$.accountId}, ${$.id})
  )
  ${insertAccepted} values ('sent', ${parametersOf($, acceptedColumns)}) ${acceptance}`,
)

const acceptMany = statement<Lists<RecordedMessage> & Lists<Outcome>>(
  'settle_many_accepted',
  ($) => `with accepted as (
    select * from unnest(${arraysOf($, acceptedColumns)}) as a (${namesOf(acceptedColumns)})
  ), findable as (
    ${insertWaMessageId} select hashtextextended(wa_message_id, 0), account_id, id from accepted
  )
  ${insertAccepted} select 'sent', ${namesOf(acceptedColumns)} from accepted ${acceptance}`,
)

/** Stores that WhatsApp accepted the message. A status that was applied before is kept. */
export const settleAccepted = batched<Acceptance, void>({
  name: 'settle_accepted',
  one: async (db, { message, waMessageId, sentAt }) => {
    await acceptOne(db, { ...message, waMessageId, sentAt })
  },
  many: async (db, acceptances) => {
    // In the order in which statuses lock them, to avoid deadlocks.
    const sorted = acceptances.toSorted((a, b) => compareKeys(a.message, b.message))
    const messages = sorted.map(({ message }) => message)
    await acceptMany(db, {
      ...listsOf<RecordedMessage>(recordedColumns, messages),
      ...listsOf(outcomeColumns, sorted),
    })
    return acceptances.map(() => undefined)
  },
  groupOf: ({ message }) => message.accountId,
})

function compareKeys(a: RecordedMessage, b: RecordedMessage): number {
  if (a.accountId !== b.accountId) return a.accountId < b.accountId ? -1 : 1
  return a.id < b.id ? -1 : 1
}

/**
 * Marks a message as failed that was certainly not sent. With `releaseKey`, a retry with that idempotency key sends
 * again; otherwise it gets this failure. Returns false if the message does not exist or is not pending.
 */
export async function settleFailed(
  db: Kysely<Database>,
  message: MessageKey,
  { code, reason, at, releaseKey }: { code: string; reason: string; at: Date; releaseKey: string | undefined },
): Promise<boolean> {
  // The key stays if a status has shown meanwhile that the message was sent: a retry must not send it again.
  const { rows } = await sql<{ id: string }>`
    with failed as (
      update messages set status = 'failed', failed_at = ${at}::timestamptz, error_code = ${code},
        error_message = case when to_number <> ${erasedRecipient} then ${reason} end
      where account_id = ${message.accountId} and id = ${message.id} and status = 'pending'
      returning account_id, id
    ), released as (
      delete from idempotency_keys k using failed f
      where k.account_id = f.account_id and k.key = ${releaseKey ?? null}::text and k.message_id = f.id
    )
    select id from failed`.execute(db)
  return rows.length === 1
}

const entryColumns: Columns<SendJournalEntry> = {
  accountId: { name: 'account_id', type: 'word' },
  id: { name: 'id', type: 'word' },
}

const failAllUnwritten = statement<Lists<SendJournalEntry> & { reason: string }, { id: string; failed: boolean }>(
  'fail_unwritten',
  // A message and its key are recorded in one transaction with the same time, by which an index finds the key.
  ($) => `with entry as (
    select * from unnest(${arraysOf($, entryColumns)}) as e (${namesOf(entryColumns)})
  ), failed as (
    update messages m
    set status = 'failed', failed_at = now(), error_code = 'SERVICE_UNAVAILABLE', error_message = ${$.reason}
    from entry e
    where m.account_id = e.account_id and m.id = e.id and m.status = 'pending'
    returning m.account_id, m.id, m.recorded_at
  ), released as (
    delete from idempotency_keys k using failed f
    where k.created_at = f.recorded_at and k.account_id = f.account_id and k.message_id = f.id
  )
  select m.id, failed.id is not null as failed
  from entry e
  join messages m on m.account_id = e.account_id and m.id = e.id
  left join failed on failed.account_id = m.account_id and failed.id = m.id`,
)

/**
 * Marks pending messages as failed that were certainly never written to WhatsApp, and releases their keys. Returns the IDs
 * of all that are recorded.
 */
export async function failUnwritten(
  db: Kysely<Database>,
  entries: readonly SendJournalEntry[],
): Promise<{ found: string[]; failed: SendJournalEntry[] }> {
  const rows = await failAllUnwritten(db, {
    ...listsOf(entryColumns, entries),
    reason: 'the service was interrupted before the message was sent',
  })
  const failed = new Set(rows.filter((row) => row.failed).map(({ id }) => id))
  return { found: rows.map(({ id }) => id), failed: entries.filter(({ id }) => failed.has(id)) }
}

/**
 * Applies an operator's decision about a message of unknown outcome. `failed` releases its idempotency key. Returns
 * false unless the message has been pending for longer than any send takes.
 */
export async function resolvePending(
  db: Kysely<Database>,
  message: MessageKey,
  resolution: 'failed' | 'sent',
): Promise<boolean> {
  const isFailed = resolution === 'failed'
  const { rows } = await sql`
    with resolved as (
      update messages set status = ${resolution},
        sent_at = case when ${isFailed}::boolean then null else clock_timestamp() end,
        failed_at = case when ${isFailed}::boolean then clock_timestamp() end,
        error_code = case when ${isFailed}::boolean then 'RESOLVED_AS_FAILED' end,
        error_message = case when ${isFailed}::boolean then 'resolved as not sent' end
      where account_id = ${message.accountId} and id = ${message.id} and status = 'pending'
        and recorded_at < now() - ${sql.raw(maxSendDuration)}
      returning account_id, id
    ), released as (
      delete from idempotency_keys k using resolved r
      where ${isFailed}::boolean and k.account_id = r.account_id and k.message_id = r.id
    )
    select id from resolved`.execute(db)
  return rows.length === 1
}
