import type { Kysely } from 'kysely'
import { ServiceError } from '../../../contracts/errors.ts'
import { batched } from '../../platform/db/batched.ts'
import { clockEstimateOf } from '../../platform/db/clock.ts'
import { arraysOf, type Columns, type Lists, listsOf, namesOf, parametersOf } from '../../platform/db/columns.ts'
import type { Database } from '../../platform/db/schema.ts'
import { type Placeholders, statement } from '../../platform/db/statement.ts'
import { recordedColumns, type RecordedMessage } from '../columns.ts'
import type { SendJournal } from '../journal/journal.ts'
import { idempotencyKept } from './idempotency-store.ts'
import type { IdempotentRequest } from './idempotency.ts'

/** A message to record, and the idempotency key that it claims. */
export interface PendingRecord {
  message: RecordedMessage
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

/** Of several requests of one batch with one key the first one claims it. */
const recordMany = statement<Lists<RecordedMessage> & Lists<Claim> & Deadline, InsertAnswer & { ids: string | null }>(
  'record_many_pending',
  ($) => `with ${clock}, request as (
    select * from unnest(${arraysOf($, requestColumns)}) with ordinality as r (${namesOf(requestColumns)}, n)
    where (select at from clock) < ${$.deadline}::float8
  ), claimed as (
    insert into idempotency_keys as i (account_id, key, request_hash, message_id)
    select distinct on (account_id, key) account_id, key, request_hash, id
    from request where key is not null
    order by account_id, key, n
    on conflict (account_id, key) do update
      set request_hash = excluded.request_hash, message_id = excluded.message_id, created_at = now()
      where i.created_at <= now() - ${idempotencyKept}
    returning message_id
  ), recorded as (
    ${insertPending}
    select 'pending', ${namesOf(recordedColumns)} from request
    where key is null or id in (select message_id from claimed)
    returning id
  )
  ${answering($)}, (select string_agg(id, ' ') from recorded) as ids from clock`,
)

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
 * Records the message before it is sent to WhatsApp, and claims its idempotency key in the same
 * statement. False when another request holds the key: then nothing is recorded.
 */
export const recordPending = batched<PendingRecord, boolean>({
  name: 'record_pending',
  one: async (db, record) => {
    if (record.request) return (await recordAll(db, [record]))[0] ?? false
    record.journal.recording([record.message])
    await insertInTime(db, (deadline) => recordOne(db, { ...record.message, deadline }))
    return true
  },
  many: recordAll,
  groupOf: ({ message }) => message.accountId,
})

async function recordAll(db: Kysely<Database>, records: readonly PendingRecord[]): Promise<boolean[]> {
  const messages = records.map(({ message }) => message)
  // All calls on one database come with the same journal.
  records[0]?.journal.recording(messages)
  const lists = listsOf(recordedColumns, messages)
  if (records.every(({ request }) => request === undefined)) {
    await insertInTime(db, (deadline) => recordManyUnclaimed(db, { ...lists, deadline }))
    return records.map(() => true)
  }
  const claims = records.map(({ request }) => ({ key: request?.key, requestHash: request?.requestHash }))
  const claimLists = listsOf(claimColumns, claims)
  const { ids } = await insertInTime(db, (deadline) => recordMany(db, { ...lists, ...claimLists, deadline }))
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
