import type { Kysely } from 'kysely'
import { joined } from '../db/joined.ts'
import type { Database } from '../db/schema.ts'
import { statement } from '../db/statement.ts'
import { idempotencyKept } from './idempotency-store.ts'
import type { IdempotentRequest } from './idempotency.ts'
import { columnsOf, valuesOf, type PendingMessage } from './pending-message.ts'

/** A message to record, and the idempotency key that it claims. */
export interface PendingRecord {
  message: PendingMessage
  request: IdempotentRequest | undefined
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
  groupOf: ({ message }) => message.accountId,
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
