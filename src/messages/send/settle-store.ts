import { type Kysely, sql } from 'kysely'
import { batched } from '../../platform/db/batched.ts'
import type { Database } from '../../platform/db/schema.ts'
import { arrayOf, statement } from '../../platform/db/statement.ts'
import { columnsOf, type PendingMessage, valuesOf } from '../message.ts'
import { longestSend } from './idempotency-store.ts'

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
export const settleAccepted = batched<Acceptance, void>({
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
  groupOf: ({ message }) => message.accountId,
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

const failAllUnwritten = statement<{ id: string; failed: boolean }>(
  'fail_unwritten',
  // A message and its key are recorded in one transaction, so their times are the same, and an index leads to the key.
  `with entry as (
    select * from unnest($1::text[], $2::text[]) as e (account_id, id)
  ), failed as (
    update messages m
    set status = 'failed', failed_at = clock_timestamp(), error_code = 'SERVICE_UNAVAILABLE', error_message = $3
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

/** Of messages that were certainly never written to WhatsApp: those that are pending fail, and their keys are released. */
export async function failUnwritten(
  db: Kysely<Database>,
  entries: readonly { accountId: string; id: string }[],
): Promise<{ found: string[]; failed: number }> {
  const rows = await failAllUnwritten(db, [
    arrayOf(entries, ({ accountId }) => accountId),
    arrayOf(entries, ({ id }) => id),
    'the service was interrupted before the message was sent',
  ])
  return { found: rows.map(({ id }) => id), failed: rows.filter(({ failed }) => failed).length }
}

/**
 * An operator has decided on a message of unknown outcome. As `failed` it releases its idempotency key. False unless
 * the message is pending for longer than any send takes.
 */
export async function resolvePending(
  db: Kysely<Database>,
  message: { accountId: string; id: string },
  resolution: 'failed' | 'sent',
): Promise<boolean> {
  const isFailed = resolution === 'failed'
  const { rows } = await sql`
    with resolved as (
      update messages set status = ${resolution},
        sent_at = case when ${isFailed}::boolean then null else clock_timestamp() end,
        failed_at = case when ${isFailed}::boolean then clock_timestamp() end,
        error_code = case when ${isFailed}::boolean then 'RESOLVED_AS_FAILED' end,
        error_message = case when ${isFailed}::boolean then 'an operator found that it was not sent' end
      where account_id = ${message.accountId} and id = ${message.id} and status = 'pending'
        and recorded_at < now() - ${sql.raw(longestSend)}
      returning account_id, id
    ), released as (
      delete from idempotency_keys k using resolved r
      where ${isFailed}::boolean and k.account_id = r.account_id and k.message_id = r.id
    )
    select id from resolved`.execute(db)
  return rows.length === 1
}
