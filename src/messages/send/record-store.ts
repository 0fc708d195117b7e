import type { Kysely } from 'kysely'
import { ServiceError } from '../../../contracts/errors.ts'
import { batched } from '../../platform/db/batched.ts'
import { clockEstimateOf } from '../../platform/db/clock.ts'
import { arraysOf, type Columns, type Lists, listsOf, namesOf, parametersOf } from '../../platform/db/columns.ts'
import type { Database } from '../../platform/db/schema.ts'
import { type Placeholders, statement } from '../../platform/db/statement.ts'
import { type PendingMessage, recordedColumns, type RecordedMessage } from '../message.ts'
import type { SendJournal } from '../send-journal.ts'
import { idempotencyKeyLifetime } from './idempotency-store.ts'
import type { IdempotentRequest } from './idempotency.ts'

type Recorded = RecordedMessage & Pick<PendingMessage, 'contentEncrypted'>

/** A message to record, and the idempotency key that it claims. */
export interface PendingRecord {
  message: Recorded
  request: IdempotentRequest | undefined
  journal: SendJournal
}

/**
 * An insert that takes longer than this to reach the database does nothing, because its caller may have been told that
 * nothing was sent. With the statement timeout, no insert commits more than 30 seconds after it was issued (settle.ts).
 */
const insertDeadlineMilliseconds = 10_000

/** The row that each insert returns. Times are passed as numbers, which are ten times as fast to encode and decode. */
interface InsertResult {
  onTime: boolean
  /** The database's clock, in milliseconds since 1970. */
  clock: number
}

/** Evaluated once per statement, so that a batch is on time or late as a whole. */
const clock = 'clock as materialized (select extract(epoch from clock_timestamp())::float8 * 1000 as at)'

function selectResult($: Placeholders<Deadline>): string {
  return `select at < ${$.deadline}::float8 as "onTime", at as clock`
}

const insertPending = `insert into messages (status, ${namesOf(recordedColumns)})`

interface Deadline {
  /** By the database's clock, in milliseconds since 1970. */
  deadline: number
}

const recordOne = statement<RecordedMessage & Deadline, InsertResult>(
  'record_pending',
  ($) => `with ${clock}, recorded as (
    ${insertPending}
    select 'pending', ${parametersOf($, recordedColumns)} from clock where at < ${$.deadline}::float8
  )
  ${selectResult($)} from clock`,
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

type RecordedIds = InsertResult & { ids: string | null }

const recordMany = statement<Lists<RecordedMessage> & Lists<Claim> & Deadline, RecordedIds>(
  'record_many_pending',
  ($) => `${recordRequests($, arraysOf($, requestColumns), namesOf(requestColumns))}
  ${selectResultWithIds($)}`,
)

/** The account is checked again, because it may have stopped storing contents since the send was prepared. */
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
  ${selectResultWithIds($)}`,
)

function selectResultWithIds($: Placeholders<Deadline>): string {
  return `${selectResult($)}, (select string_agg(id, ' ') from recorded) as ids from clock`
}

/** If several requests of a batch have the same key, the first one claims it. */
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
      where excluded.created_at - i.created_at >= ${idempotencyKeyLifetime}
    returning message_id
  ), recorded as (
    ${insertPending}
    select 'pending', ${namesOf(recordedColumns)} from request
    where key is null or id in (select message_id from claimed)
    returning id
  )`
}

const recordManyUnclaimed = statement<Lists<RecordedMessage> & Deadline, InsertResult>(
  'record_many_unclaimed',
  ($) => `with ${clock}, recorded as (
    ${insertPending}
    select 'pending', ${namesOf(recordedColumns)}
    from unnest(${arraysOf($, recordedColumns)}) as r (${namesOf(recordedColumns)})
    where (select at from clock) < ${$.deadline}::float8
  )
  ${selectResult($)} from clock`,
)

/**
 * Records the message before it is sent to WhatsApp, and claims its idempotency key and stores its content in the same
 * statement. Returns false, and records nothing, if another request holds the key.
 */
export const recordPending = batched<PendingRecord, boolean>({
  name: 'record_pending',
  one: async (db, record) => {
    if (record.request || record.message.contentEncrypted !== undefined)
      return (await recordAll(db, [record]))[0] ?? false
    record.journal.recording([record.message])
    await insertBeforeDeadline(db, (deadline) => recordOne(db, { ...record.message, deadline }))
    return true
  },
  many: recordAll,
  groupOf: ({ message }) => message.accountId,
})

async function recordAll(db: Kysely<Database>, records: readonly PendingRecord[]): Promise<boolean[]> {
  const messages: readonly Recorded[] = records.map(({ message }) => message)
  // All calls on the same database have the same journal.
  records[0]?.journal.recording(messages)
  const lists = listsOf<RecordedMessage>(recordedColumns, messages)
  const hasContents = messages.some(({ contentEncrypted }) => contentEncrypted !== undefined)
  if (!hasContents && records.every(({ request }) => request === undefined)) {
    await insertBeforeDeadline(db, (deadline) => recordManyUnclaimed(db, { ...lists, deadline }))
    return records.map(() => true)
  }
  const claims = records.map(({ request }) => ({ key: request?.key, requestHash: request?.requestHash }))
  const claimLists = listsOf(claimColumns, claims)
  const contents = messages.map(({ contentEncrypted }) => ({ contentEncrypted }))
  const { ids } = await insertBeforeDeadline(db, (deadline) =>
    hasContents
      ? recordManyWithContents(db, { ...lists, ...claimLists, ...listsOf(contentColumns, contents), deadline })
      : recordMany(db, { ...lists, ...claimLists, deadline }),
  )
  const recorded = new Set(ids?.split(' '))
  return messages.map(({ id }) => recorded.has(id))
}

/** Runs an insert that does nothing after a deadline by the database's clock. */
async function insertBeforeDeadline<Row extends InsertResult>(
  db: Kysely<Database>,
  insert: (deadline: number) => Promise<Row[]>,
): Promise<Row> {
  const estimate = clockEstimateOf(db)
  for (let isFirst = true; ; isFirst = false) {
    const now = await estimate.read(db)
    const issuedAt = performance.now()
    const [result] = await insert(now + insertDeadlineMilliseconds)
    if (!result) throw new Error('an insert returned no row')
    estimate.addSample(result.clock, issuedAt)
    if (result.onTime) return result
    // The insert was not late: the database clock has jumped forward, and the estimate is corrected now.
    if (isFirst && performance.now() - issuedAt < insertDeadlineMilliseconds / 2) continue
    throw new ServiceError(
      'SERVICE_UNAVAILABLE',
      'The database was too slow. Nothing was sent. Try again in a moment.',
      {
        retryAfterSeconds: 1,
      },
    )
  }
}
