import { type Kysely, type RawBuilder, type Selection, sql } from 'kysely'
import { readDatabaseClock } from '../../platform/db/clock.ts'
import { arraysOf, type Columns, type Lists, listsOf, namesOf, selectionOf } from '../../platform/db/columns.ts'
import { retryLocked } from '../../platform/db/locks.ts'
import { columnsOf } from '../../platform/db/names.ts'
import type { Database } from '../../platform/db/schema.ts'
import { statement } from '../../platform/db/statement.ts'
import { firstRequestIdAt, timeOfId } from '../../platform/ids.ts'

/** A request and its response, as recorded. */
export interface RecordedRequest {
  /** Undefined if the request failed before its key was checked. */
  accountId: string | undefined
  /** In hexadecimal digits, to find the account if it is not known. */
  keyHash: string | undefined
  id: string
  method: string
  path: string
  status: number
  errorCode: string | undefined
  durationMilliseconds: number
  keyStart: string
  address: string
  messageIds: readonly string[] | undefined
  /** `performance.now()` when the request arrived. */
  receivedAt: number
  externalId: string | undefined
  request: string | undefined
  answer: string | undefined
}

/** Values that requests of a batch share, which are sent only once. Most share account, route and caller. */
interface Group extends Omit<RecordedRequest, 'id' | 'durationMilliseconds' | 'messageIds' | 'receivedAt'> {
  /** Earliest possible arrival of its oldest request by the database clock, in milliseconds since 1970. */
  arrivedAt: number
}

interface Member extends Pick<RecordedRequest, 'id' | 'durationMilliseconds'> {
  /** The first group is 1. */
  group: number
  messageIds: string | undefined
}

const groupColumns: Columns<Group> = {
  accountId: { name: 'account_id', type: 'word' },
  keyHash: { name: 'key_hash', type: 'word' },
  method: { name: 'method', type: 'word' },
  path: { name: 'path', type: 'text' },
  status: { name: 'status', type: 'integer' },
  errorCode: { name: 'error_code', type: 'word' },
  keyStart: { name: 'key_start', type: 'word' },
  address: { name: 'address', type: 'text' },
  externalId: { name: 'external_id', type: 'text' },
  request: { name: 'request', type: 'text' },
  answer: { name: 'answer', type: 'text' },
  arrivedAt: { name: 'arrived_at', type: 'float8' },
}

const memberColumns: Columns<Member> = {
  group: { name: 'group_number', type: 'integer' },
  id: { name: 'id', type: 'word' },
  durationMilliseconds: { name: 'duration_ms', type: 'integer' },
  messageIds: { name: 'message_ids', type: 'word' },
}

interface Batch {
  groups: Lists<Group>
  members: Lists<Member>
}

type BatchParams = Lists<Group> & Lists<Member>

/**
 * Skips requests of removed accounts, requests with unknown keys, and requests that arrived before a recipient was
 * erased.
 */
const insert = statement<BatchParams>(
  'insert_api_requests',
  ($) => `insert into api_requests (account_id, id, method, path, status, error_code, duration_ms, key_start, address,
    message_ids, external_id, request, answer)
  select a.id, r.id, g.method, g.path, g.status, g.error_code, r.duration_ms, g.key_start, g.address,
    r.message_ids, g.external_id, g.request, g.answer
  from unnest(${arraysOf($, groupColumns)}) with ordinality as g (${namesOf(groupColumns)}, n)
  left join api_keys k on g.account_id is null and k.key_hash = decode(g.key_hash, 'hex')
  join accounts a on a.id = coalesce(g.account_id, k.account_id)
  join unnest(${arraysOf($, memberColumns)}) as r (${namesOf(memberColumns)}) on r.group_number = g.n
  where g.arrived_at > coalesce(extract(epoch from (select max(at) from api_request_cutoffs)) * 1000, '-infinity')::float8`,
)

/**
 * Writes requests of all accounts. The database clock is read first, so that a delayed insert does not change the
 * arrival times. They are the earliest possible times: no request escapes an erasure, but one that arrived just after
 * it may be skipped.
 */
export async function insertRequests(db: Kysely<Database>, requests: readonly RecordedRequest[]): Promise<void> {
  const clock = await readDatabaseClock(db)
  const { groups, members } = groupRequests(requests, clock.getTime() - performance.now())
  await insert(db, { ...groups, ...members })
}

/** `offset`: the smallest possible difference between the database clock and this process's monotonic clock. */
function groupRequests(requests: readonly RecordedRequest[], offset: number): Batch {
  const numbers = new Map<string, number>()
  const groups: Group[] = []
  let previous: RecordedRequest | undefined
  let group = 0

  function findGroup(request: RecordedRequest): number {
    const key = groupKeyOf(request)
    const found = key === undefined ? undefined : numbers.get(key)
    if (found !== undefined) return found
    const added = groups.push({ ...request, arrivedAt: offset + request.receivedAt })
    if (key !== undefined) numbers.set(key, added)
    return added
  }

  const members = requests.map((request): Member => {
    const { id, durationMilliseconds, messageIds } = request
    // Consecutive requests are often alike, and comparing two is cheaper than building a key.
    if (!previous || !isSameGroup(previous, request)) group = findGroup(request)
    previous = request
    return { group, id, durationMilliseconds, messageIds: messageIds?.join('+') }
  })
  return { groups: listsOf(groupColumns, groups), members: listsOf(memberColumns, members) }
}

function isSameGroup(a: RecordedRequest, b: RecordedRequest): boolean {
  return (
    a.accountId === b.accountId &&
    a.keyHash === b.keyHash &&
    a.method === b.method &&
    a.path === b.path &&
    a.status === b.status &&
    a.errorCode === b.errorCode &&
    a.keyStart === b.keyStart &&
    a.address === b.address &&
    a.answer === undefined &&
    b.answer === undefined
  )
}

/** Returns undefined for a request with a recorded response, which always gets its own group. */
function groupKeyOf(request: RecordedRequest): string | undefined {
  if (request.answer !== undefined) return undefined
  const { accountId, keyHash, method, path, status, errorCode, keyStart, address } = request
  return `${accountId ?? ''} ${keyHash ?? ''} ${method} ${path} ${status} ${errorCode ?? ''} ${keyStart} ${address}`
}

/**
 * Prevents every process from writing requests that have already arrived, because those in memory may contain the
 * number that is being erased. The lock waits for inserts that did not see the cutoff.
 */
export async function discardUnwrittenRequests(db: Kysely<Database>): Promise<void> {
  await retryLocked(() =>
    db.transaction().execute(async (trx) => {
      await sql`set local lock_timeout = '1s'`.execute(trx)
      await sql`lock table only api_requests in share row exclusive mode`.execute(trx)
      await sql`insert into api_request_cutoffs (at) values (clock_timestamp())`.execute(trx)
    }),
  )
}

/** No request takes an hour, so older cutoffs have no effect. */
export async function deleteOldCutoffs(db: Kysely<Database>, now: Date): Promise<void> {
  await sql`delete from api_request_cutoffs where at < ${now}::timestamptz - interval '1 hour'`.execute(db)
}

const listedColumns = [
  ...columnsOf('id method path status error_code'),
  'duration_ms as durationMilliseconds',
  ...columnsOf('key_start address message_ids external_id'),
] as const

export const requestColumns = [...listedColumns, 'request', 'answer'] as const

export type StoredRequest = Selection<Database, 'api_requests', (typeof requestColumns)[number]>

/** Without the request body. */
export type ListedRequest = Omit<StoredRequest, 'request'>

export interface RequestFilter {
  fromId?: string | undefined
  untilId?: string | undefined
  /** Only requests older than this one, with which the previous page ended. */
  beforeId?: string | undefined
  outcome?: 'succeeded' | 'failed' | '4xx' | '5xx' | undefined
  errorCode?: string | undefined
  /** Part of the path. */
  path?: string | undefined
  search?: RequestSearch | undefined
}

export type RequestSearch =
  | { kind: 'requestId'; id: string }
  /** Requests that caused one of these messages, and failures with this external ID. */
  | { kind: 'messages'; messageIds: readonly string[]; externalId?: string | undefined }

/** Examining this many takes some milliseconds, because paths and error codes have no index. */
const listMaxExamined = 20_000
const listedNames = sql.raw(listedColumns.map((column) => column.split(' as ')[0]).join(', '))

/** Returns the newest matches first. `stoppedAt` is the last request that was examined, if there may be older ones. */
export async function findRequests(
  db: Kysely<Database>,
  accountId: string,
  { search, ...filter }: RequestFilter,
  limit: number,
  maxExamined: number = listMaxExamined,
): Promise<{ rows: ListedRequest[]; stoppedAt: string | undefined }> {
  const indexed = and([sql`account_id = ${accountId}`, ...listIndexed(filter)])
  const unindexed = listUnindexed(filter)
  // Read before the page: requests recorded in between are newer, so none is skipped or repeated.
  const bound = search || unindexed.length === 0 ? undefined : await findBound(db, indexed, maxExamined)
  const examined = bound === undefined ? newest(indexed, search, maxExamined) : downTo(bound, indexed)
  const { rows } = await sql<ListedRequest>`
    select page.*, r.answer from (
      select ${sql.raw(selectionOf(listedColumns))} from (${examined}) recent
    where ${and(unindexed)} order by id desc limit ${sql.lit(limit + 1)}
    ) page
    join api_requests r on r.account_id = ${accountId} and r.id = page.id
    order by page.id desc`.execute(db)
  return rows.length > limit
    ? { rows: rows.slice(0, limit), stoppedAt: rows[limit - 1]?.id }
    : { rows, stoppedAt: bound }
}

function downTo(bound: string, indexed: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`select ${listedNames} from api_requests where ${indexed} and id >= ${bound}`
}

/** Selects the newest requests that the indexes find. */
function newest(indexed: RawBuilder<unknown>, search: RequestSearch | undefined, limit: number): RawBuilder<unknown> {
  const sources = search ? listSources(search) : [sql`true`]
  return sql.join(
    sources.map(
      (source) => sql`(
        select ${listedNames} from api_requests where ${indexed} and ${source} order by id desc limit ${sql.lit(limit)}
      )`,
    ),
    sql` union `,
  )
}

/** Examining this many takes a few milliseconds. An open log page counts repeatedly. */
const countMaxExamined = 10_000

/** Counts the matches among the newest requests by error code, the most frequent first; null means success. */
export async function countByErrorCode(
  db: Kysely<Database>,
  accountId: string,
  { search, ...filter }: RequestFilter,
  maxExamined: number = countMaxExamined,
): Promise<{ counts: { errorCode: string | null; count: number }[]; isComplete: boolean }> {
  const indexed = and([sql`account_id = ${accountId}`, ...listIndexed(filter)])
  const { rows } = await sql<{ errorCode: string | null; count: number; examined: number }>`
    with recent as materialized (${newest(indexed, search, maxExamined)})
    select error_code as "errorCode", count(*)::integer as count, (select count(*) from recent)::integer as examined
    from recent where ${and(listUnindexed(filter))}
    group by error_code order by count(*) desc, error_code`.execute(db)
  const counts = rows.map(({ errorCode, count }) => ({ errorCode, count }))
  const [first] = rows
  const hasAll = first
    ? first.examined < maxExamined
    : search !== undefined || (await findBound(db, indexed, maxExamined)) === undefined
  return { counts, isComplete: hasAll }
}

/** Returns the last request that is examined; undefined if all of them are. */
async function findBound(
  db: Kysely<Database>,
  indexed: RawBuilder<unknown>,
  maxExamined: number,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select id from api_requests where ${indexed} order by id desc offset ${sql.lit(maxExamined - 1)} limit 1`.execute(
    db,
  )
  return rows[0]?.id
}

export async function findRequest(
  db: Kysely<Database>,
  accountId: string,
  requestId: string,
): Promise<StoredRequest | undefined> {
  return db
    .selectFrom('api_requests')
    .select(requestColumns)
    .where('account_id', '=', accountId)
    .where('id', '=', requestId)
    .executeTakeFirst()
}

/** Returns the newest messages with this external ID. Their requests have no copy of it. */
export async function findMessagesByExternalId(
  db: Kysely<Database>,
  accountId: string,
  externalId: string,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from messages where external_id = ${externalId} and account_id = ${accountId}
    order by id desc limit ${sql.lit(limit)}`.execute(db)
  return rows.map(({ id }) => id)
}

function listIndexed({ fromId, untilId, beforeId, outcome, errorCode }: RequestFilter): RawBuilder<unknown>[] {
  const failed = errorCode !== undefined || (outcome !== undefined && outcome !== 'succeeded')
  return [
    ...(fromId === undefined ? [] : [sql`id >= ${fromId}`]),
    ...(untilId === undefined ? [] : [sql`id < ${untilId}`]),
    ...(beforeId === undefined ? [] : [sql`id < ${beforeId}`]),
    ...(failed ? [sql`error_code is not null`] : []),
  ]
}

function listUnindexed({ outcome, errorCode, path }: RequestFilter): RawBuilder<unknown>[] {
  return [
    ...(outcome === 'succeeded' ? [sql`error_code is null`] : []),
    ...(outcome === '4xx' ? [sql`status between 400 and 499`] : []),
    ...(outcome === '5xx' ? [sql`status >= 500`] : []),
    ...(errorCode === undefined ? [] : [sql`error_code = ${errorCode}`]),
    ...(path === undefined ? [] : [sql`strpos(path, ${path}) > 0`]),
  ]
}

/** A message is recorded after its request arrived, and before the request ends. */
const longestBeforeMilliseconds = 30_000
const longestAfterMilliseconds = 1_000

function listSources(search: RequestSearch): RawBuilder<unknown>[] {
  if (search.kind === 'requestId') return [sql`id = ${search.id}`]
  const { messageIds, externalId } = search
  return [
    ...messageIds.map((id) => {
      const recordedAt = timeOfId(id).getTime()
      const from = firstRequestIdAt(new Date(recordedAt - longestBeforeMilliseconds))
      const until = firstRequestIdAt(new Date(recordedAt + longestAfterMilliseconds))
      return sql`id >= ${from} and id < ${until} and strpos(message_ids, ${id}) > 0`
    }),
    ...(externalId === undefined ? [] : [sql`external_id = ${externalId}`]),
  ]
}

function and(conditions: RawBuilder<unknown>[]): RawBuilder<unknown> {
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `)
}
