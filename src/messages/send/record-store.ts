import type { Kysely } from 'kysely'
import { ServiceError } from '../../../contracts/errors.ts'
import { batched } from '../../platform/db/batched.ts'
import { clockEstimateOf } from '../../platform/db/clock.ts'
import { arraysOf, type Columns, type Lists, listsOf, namesOf, parametersOf } from '../../platform/db/columns.ts'
import type { Database } from '../../platform/db/schema.ts'
import { type Placeholders, statement } from '../../platform/db/statement.ts'
import { recordedColumns, type RecordedMessage } from '../columns.ts'
import type { PendingMessage } from '../message.ts'
import type { SendJournal } from '../journal/journal.ts'
import { idempotencyKept } from './idempotency-store.ts'
import type { IdempotentRequest } from './idempotency.ts'

type Recorded = RecordedMessage & Pick<PendingMessage, 'contentEncrypted'>

/** A message to record, and the idempotency key that it claims. */
export interface PendingRecord {
  message: Recorded
  request: IdempotentRequest | undefined
  journal: SendJournal
}

/**
 * An insert that reaches the database later than this after it left does nothing: its caller was told that nothing
 * was sent. With the statement timeout behind it, none commits half a minute after it left (settle.ts).
 */
const insertDeadlineMilliseconds = 10_000

/** What each insert answers. Times go both ways as numbers, which take a tenth of the time to read and write. */
interface InsertAnswer {
  on_time: boolean
  /** The database's clock, in milliseconds since 1970. */
  clock: number
}

/** Read once a statement, so that a batch is on time or late as a whole. */
const clock = 'clock as materialized (select extract(epoch from clock_timestamp())::float8 * 1000 as at)'

function answering($: Placeholders<Deadline>): string {
  return `select at < ${$.deadline}::float8 as on_time, at as clock`
}

const insertPending = `insert into messages (status, ${namesOf(recordedColumns)})`

interface Deadline {
  /** By the database's clock, in milliseconds since 1970. */
  deadline: number
}

const recordOne = statement<RecordedMessage & Deadline, InsertAnswer>(
  'record_pending',
  ($) => `with ${clock}, recorded as (
    ${insertPending}
    select 'pending', ${parametersOf($, recordedColumns)} from clock where at < ${$.deadline}::float8
  )
  ${answering($)} from clock`,
)

interface Claim {
  key: string | undefined
  requestHash: Uint8Array | undefined
}

const claimColumns: Columns<Claim> = {
  key: { name: 'key', type: 'text' },
  requestHash: { name: 'request_hash', type: 'bytea' },
}
const requestColumns = { ...recordedColumns, ...claimColumns }

interface Content {
  contentEncrypted: string | undefined
}

const contentColumns: Columns<Content> = { contentEncrypted: { name: 'content_encrypted', type: 'word' } }
const contentRequestColumns = { ...requestColumns, ...contentColumns }

type RecordedIds = InsertAnswer & { ids: string | null }

const recordMany = statement<Lists<RecordedMessage> & Lists<Claim> & Deadline, RecordedIds>(
  'record_many_pending',
  ($) => `${recordRequests($, arraysOf($, requestColumns), namesOf(requestColumns))}
  ${answeringIds($)}`,
)

/** The account is asked again: it may have stopped storing contents since the send was prepared. */
const recordManyWithContents = statement<
  Lists<RecordedMessage> & Lists<Claim> & Lists<Content> & Deadline,
  RecordedIds
>(
  'record_many_with_contents',
  ($) => `${recordRequests($, arraysOf($, contentRequestColumns), namesOf(contentRequestColumns))}, stored as (
    insert into message_contents (account_id, message_id, content_encrypted)
    select r.account_id, r.id, r.content_encrypted
    from request r join accounts a on a.id = r.account_id and a.contents_kept_days is not null
    where r.content_encrypted is not null and (r.key is null or r.id in (select message_id from claimed))
  )
  ${answeringIds($)}`,
)

function answeringIds($: Placeholders<Deadline>): string {
  return `${answering($)}, (select string_agg(id, ' ') from recorded) as ids from clock`
}

/**
 * Of several requests of one batch with one key the first one claims it. The time is that of the new row: Citus refuses
 * `now()` in the update of a conflicting row.
 */
function recordRequests($: Placeholders<Deadline>, arrays: string, names: string): string {
  return `with ${clock}, request as (
    select * from unnest(${arrays}) with ordinality as r (${names}, n)
    where (select at from clock) < ${$.deadline}::float8
  ), claimed as (
    insert into idempotency_keys as i (account_id, key, request_hash, message_id)
    select distinct on (account_id, key) account_id, key, request_hash, id
    from request where key is not null
    order by account_id, key, n
    on conflict (account_id, key) do update
      set request_hash = excluded.request_hash, message_id = excluded.message_id, created_at = excluded.created_at
      where excluded.created_at - i.created_at >= ${idempotencyKept}
    returning message_id
  ), recorded as (
    ${insertPending}
    select 'pending', ${namesOf(recordedColumns)} from request
    where key is null or id in (select message_id from claimed)
    returning id
  )`
}

const recordManyUnclaimed = statement<Lists<RecordedMessage> & Deadline, InsertAnswer>(
  'record_many_unclaimed',
  ($) => `with ${clock}, recorded as (
    ${insertPending}
    select 'pending', ${namesOf(recordedColumns)}
    from unnest(${arraysOf($, recordedColumns)}) as r (${namesOf(recordedColumns)})
    where (select at from clock) < ${$.deadline}::float8
  )
  ${answering($)} from clock`,
)

/**
 * Records the message before it is sent to WhatsApp, and claims its idempotency key and stores its content in the same
 * statement. False when another request holds the key: then nothing is recorded.
 */
export const recordPending = batched<PendingRecord, boolean>({
  name: 'record_pending',
  one: async (db, record) => {
    if (record.request || record.message.contentEncrypted !== undefined)
      return (await recordAll(db, [record]))[0] ?? false
    record.journal.recording([record.message])
    await insertInTime(db, (deadline) => recordOne(db, { ...record.message, deadline }))
    return true
  },
  many: recordAll,
  groupOf: ({ message }) => message.accountId,
})

async function recordAll(db: Kysely<Database>, records: readonly PendingRecord[]): Promise<boolean[]> {
  const messages: readonly Recorded[] = records.map(({ message }) => message)
  // All calls on one database come with the same journal.
  records[0]?.journal.recording(messages)
  const lists = listsOf<RecordedMessage>(recordedColumns, messages)
  const hasContents = messages.some(({ contentEncrypted }) => contentEncrypted !== undefined)
  if (!hasContents && records.every(({ request }) => request === undefined)) {
    await insertInTime(db, (deadline) => recordManyUnclaimed(db, { ...lists, deadline }))
    return records.map(() => true)
  }
  const claims = records.map(({ request }) => ({ key: request?.key, requestHash: request?.requestHash }))
  const claimLists = listsOf(claimColumns, claims)
  const contents = messages.map(({ contentEncrypted }) => ({ contentEncrypted }))
  const { ids } = await insertInTime(db, (deadline) =>
    hasContents
      ? recordManyWithContents(db, { ...lists, ...claimLists, ...listsOf(contentColumns, contents), deadline })
      : recordMany(db, { ...lists, ...claimLists, deadline }),
  )
  const recorded = new Set(ids?.split(' '))
  return messages.map(({ id }) => recorded.has(id))
}

/** Runs an insert that does nothing from a deadline on, by the database's clock. */
async function insertInTime<Answer extends InsertAnswer>(
  db: Kysely<Database>,
  insert: (deadline: number) => Promise<Answer[]>,
): Promise<Answer> {
  const estimate = clockEstimateOf(db)
  for (let isFirst = true; ; isFirst = false) {
    const now = await estimate.read(db)
    const leftAt = performance.now()
    const [answer] = await insert(now + insertDeadlineMilliseconds)
    if (!answer) throw new Error('an insert did not say whether it was on time')
    estimate.learn(answer.clock, leftAt)
    if (answer.on_time) return answer
    // Rejected this early: the database clock jumped forward. Our offset is refreshed now.
    if (isFirst && performance.now() - leftAt < insertDeadlineMilliseconds / 2) continue
    throw new ServiceError(
      'SERVICE_UNAVAILABLE',
      'The database was too slow. Nothing was sent. Try again in a moment.',
      {
        retryAfterSeconds: 1,
      },
    )
  }
}
