import type { Kysely } from 'kysely'
import { arraysOf, type Columns, fieldsOf, type Lists, listsOf, namesOf } from '../../platform/db/columns.ts'
import type { Database } from '../../platform/db/schema.ts'
import { statement, unnamedStatement } from '../../platform/db/statement.ts'
import { messageColumns, type MessageKey, type MessageState, stateColumns, type StoredMessage } from '../message.ts'

/** How a status identifies its message: by our ID, which we pass to WhatsApp for this purpose, or only by the wamid. */
export interface MessageReference {
  accountId: string
  messageId: string | undefined
  waMessageId: string
}

interface IdReference {
  accountId: string
  messageId: string
}

const idColumns: Columns<IdReference> = {
  accountId: { name: 'account_id', type: 'word' },
  messageId: { name: 'id', type: 'word' },
}

interface WamidReference {
  wamidAccountId: string
  waMessageId: string
}

const wamidColumns: Columns<WamidReference> = {
  wamidAccountId: { name: 'account_id', type: 'word' },
  waMessageId: { name: 'wa_message_id', type: 'text' },
}

const fields = fieldsOf(messageColumns, 'm')
const inLockOrder = 'order by m.account_id, m.id for update of m'

/** The range of IDs limits the partitions that PostgreSQL has to plan for. */
const lockById = unnamedStatement<Lists<IdReference> & { firstId: string; lastId: string }, StoredMessage>(
  ($) => `select ${fields}
  from messages m
  where (m.account_id, m.id) in (
      select account_id, id from unnest(${arraysOf($, idColumns)}) as r (${namesOf(idColumns)})
    )
    and m.id between ${$.firstId} and ${$.lastId}
  ${inLockOrder}`,
)

const lockByEither = unnamedStatement<Lists<IdReference> & Lists<WamidReference>, StoredMessage>(
  ($) => `select ${fields}
  from messages m
  where (m.account_id, m.id) in (
    select account_id, id from unnest(${arraysOf($, idColumns)}) as r (${namesOf(idColumns)})
    union
    select found.account_id, found.id
    from unnest(${arraysOf($, wamidColumns)}) as r (${namesOf(wamidColumns)})
    join wa_message_ids w on w.hash = hashtextextended(r.wa_message_id, 0) and w.account_id = r.account_id
    join messages found on found.account_id = w.account_id and found.id = w.message_id
      and found.wa_message_id = r.wa_message_id
  )
  ${inLockOrder}`,
)

/**
 * Finds and locks the messages of statuses, always in the same order, so that callbacks about the same messages wait
 * for each other instead of deadlocking.
 */
export async function lockMessages(
  db: Kysely<Database>,
  references: readonly MessageReference[],
): Promise<StoredMessage[]> {
  const byId: IdReference[] = []
  const byWamid: WamidReference[] = []
  for (const { accountId, messageId, waMessageId } of references)
    if (messageId === undefined) byWamid.push({ wamidAccountId: accountId, waMessageId })
    else byId.push({ accountId, messageId })
  if (byWamid.length > 0) return lockByEither(db, { ...listsOf(idColumns, byId), ...listsOf(wamidColumns, byWamid) })
  const ids = byId.map(({ messageId }) => messageId).toSorted()
  const [firstId] = ids
  const lastId = ids.at(-1)
  if (firstId === undefined || lastId === undefined) return []
  return lockById(db, { ...listsOf(idColumns, byId), firstId, lastId })
}

/** A locked message, as it was read and as it will be stored. */
export interface StateChange {
  before: StoredMessage
  message: StoredMessage
}

const writtenColumns = { accountId: messageColumns.accountId, id: messageColumns.id, ...stateColumns }

const writeAll = statement<Lists<MessageKey & MessageState>>(
  'write_states',
  // As an upsert, the update always uses the primary key (settle-store.ts). The rows are locked, so none is inserted, and the
  // columns that a status never changes need only be valid.
  ($) => `insert into messages (whatsapp_account_id, to_number, template_name, template_language, created_at,
    ${namesOf(writtenColumns)})
  select '', '', '', '', timestamptz '-infinity', r.* from unnest(${arraysOf($, writtenColumns)}) as r
  on conflict (account_id, id) do update set ${Object.values(stateColumns)
    .map(({ name }) => `${name} = excluded.${name}`)
    .join(', ')}`,
)

type NewWaMessageId = Pick<StoredMessage, 'accountId' | 'id' | 'waMessageId'>

const newWaMessageIdColumns: Columns<NewWaMessageId> = {
  accountId: { name: 'account_id', type: 'word' },
  id: { name: 'message_id', type: 'word' },
  waMessageId: { name: 'wa_message_id', type: 'text' },
}

/**
 * For messages whose wamid was first reported by a status; settled messages have their row already (settle-store.ts).
 */
const writeWaMessageIds = statement<Lists<NewWaMessageId>>(
  'write_wa_message_ids',
  ($) => `insert into wa_message_ids (hash, account_id, message_id)
  select hashtextextended(wa_message_id, 0), account_id, message_id
  from unnest(${arraysOf($, newWaMessageIdColumns)}) as reported (${namesOf(newWaMessageIdColumns)})`,
)

/** Writes the new states of messages that are locked. */
export async function writeStates(db: Kysely<Database>, changes: readonly StateChange[]): Promise<void> {
  if (changes.length === 0) return
  const messages = changes.map(({ message }) => message)
  await writeAll(db, listsOf<MessageKey & MessageState>(writtenColumns, messages))
  const findable = changes
    // The wamid is empty if the recipient was erased.
    .filter(({ before, message }) => before.waMessageId === null && message.waMessageId)
    .map(({ message }) => message)
  if (findable.length > 0) await writeWaMessageIds(db, listsOf(newWaMessageIdColumns, findable))
}
