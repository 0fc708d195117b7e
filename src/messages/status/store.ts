import type { Kysely } from 'kysely'
import type { Database } from '../../platform/db/schema.ts'
import { arrayOf, unnamedStatement, statement } from '../../platform/db/statement.ts'
import type { MessageRow } from '../store.ts'
import type { MessageState } from './advance.ts'

/** How a status names its message: by our id, which we gave WhatsApp for this, or by the wamid alone. */
export interface MessageReference {
  accountId: string
  messageId: string | undefined
  waMessageId: string
}

const columns = `m.account_id, m.id, m.whatsapp_account_id, m.status, m.to_number, m.template_name, m.template_language,
    m.external_id, m.wa_message_id, m.created_at, m.sent_at, m.delivered_at, m.read_at, m.failed_at, m.error_code,
    m.error_message`

const inOneOrder = 'order by m.account_id, m.id for update of m'

/** The first and the last id leave few partitions to plan for. */
const lockById = unnamedStatement<MessageRow>(
  `select ${columns}
  from messages m
  where (m.account_id, m.id) in (select account_id, id from unnest($1::text[], $2::text[]) as r (account_id, id))
    and m.id between $3 and $4
  ${inOneOrder}`,
)

const lockByEither = unnamedStatement<MessageRow>(
  `select ${columns}
  from messages m
  where (m.account_id, m.id) in (
    select account_id, id from unnest($1::text[], $2::text[]) as r (account_id, id)
    union
    select found.account_id, found.id
    from unnest($3::text[], $4::text[]) as r (account_id, wa_message_id)
    join wa_message_ids w on w.hash = hashtextextended(r.wa_message_id, 0) and w.account_id = r.account_id
    join messages found on found.account_id = w.account_id and found.id = w.message_id
      and found.wa_message_id = r.wa_message_id
  )
  ${inOneOrder}`,
)

/**
 * The messages that statuses are about, locked in one order so that two callbacks with the same
 * messages wait for each other instead of deadlocking.
 */
export function lockMessages(db: Kysely<Database>, references: readonly MessageReference[]): Promise<MessageRow[]> {
  const byId = references.filter((reference) => reference.messageId !== undefined)
  const byWamid = references.filter((reference) => reference.messageId === undefined)
  const accountIds = byId.map((reference) => reference.accountId)
  const ids = byId.map((reference) => reference.messageId)
  if (byWamid.length === 0) {
    const sorted = ids.toSorted()
    return lockById(db, [accountIds, ids, sorted[0], sorted.at(-1)])
  }
  return lockByEither(db, [
    accountIds,
    ids,
    byWamid.map((reference) => reference.accountId),
    byWamid.map((reference) => reference.waMessageId),
  ])
}

/** A message that is locked, and its new state. */
export interface StateChange {
  message: MessageRow
  state: MessageState
}

const writeAll = statement<object>(
  'write_states',
  // The rows are there: an update, written so that it goes by the key whatever the planner believes (settle-store.ts).
  `insert into messages (account_id, id, whatsapp_account_id, to_number, template_name, template_language, created_at,
    status, wa_message_id, sent_at, delivered_at, read_at, failed_at, error_code, error_message)
  select * from unnest(
    $1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[], $8::text[], $9::text[],
    $10::timestamptz[], $11::timestamptz[], $12::timestamptz[], $13::timestamptz[], $14::text[], $15::text[]
  )
  on conflict (account_id, id) do update set
    status = excluded.status, wa_message_id = excluded.wa_message_id, sent_at = excluded.sent_at,
    delivered_at = excluded.delivered_at, read_at = excluded.read_at, failed_at = excluded.failed_at,
    error_code = excluded.error_code, error_message = excluded.error_message`,
)

/** Of messages whose wamid a status was the first to tell; a settled one has it already (settle-store.ts). */
const writeWaMessageIds = statement<object>(
  'write_wa_message_ids',
  `insert into wa_message_ids (hash, account_id, message_id)
  select hashtextextended(wa_message_id, 0), account_id, message_id
  from unnest($1::text[], $2::text[], $3::text[]) as told (wa_message_id, account_id, message_id)`,
)

/** Writes the new states of messages that are locked. */
export async function writeStates(db: Kysely<Database>, changes: readonly StateChange[]): Promise<void> {
  if (changes.length === 0) return
  await writeAll(db, [
    arrayOf(changes, ({ message }) => message.account_id),
    arrayOf(changes, ({ message }) => message.id),
    arrayOf(changes, ({ message }) => message.whatsapp_account_id),
    arrayOf(changes, ({ message }) => message.to_number),
    changes.map(({ message }) => message.template_name),
    changes.map(({ message }) => message.template_language),
    arrayOf(changes, ({ message }) => message.created_at),
    arrayOf(changes, ({ state }) => state.status),
    changes.map(({ state }) => state.waMessageId),
    arrayOf(changes, ({ state }) => state.sentAt),
    arrayOf(changes, ({ state }) => state.deliveredAt),
    arrayOf(changes, ({ state }) => state.readAt),
    arrayOf(changes, ({ state }) => state.failedAt),
    changes.map(({ state }) => state.error?.code ?? null),
    changes.map(({ state }) => state.error?.message ?? null),
  ])
  const findable = changes.filter(({ message, state }) => message.wa_message_id === null && state.waMessageId !== null)
  if (findable.length === 0) return
  await writeWaMessageIds(db, [
    findable.map(({ state }) => state.waMessageId),
    arrayOf(findable, ({ message }) => message.account_id),
    arrayOf(findable, ({ message }) => message.id),
  ])
}
