import { type Kysely, type RawBuilder, sql } from 'kysely'
import { longerThanLeaseSeconds } from '../../platform/db/clock.ts'
import { arraysOf, type Columns, type Lists, listsOf, namesOf } from '../../platform/db/columns.ts'
import type { Database } from '../../platform/db/schema.ts'
import { unnamedStatement } from '../../platform/db/statement.ts'
import { disabledReasons } from '../../../contracts/facts/deliveries.ts'
import { inEnglish } from '../../../contracts/facts/fact.ts'
import type { AttemptResult } from '../sender/webhook-sender.ts'

/** A delivery that this process has claimed until its lease ends, with everything that an attempt needs. */
export interface ClaimedDelivery {
  accountId: string
  id: string
  endpointId: string
  eventId: string
  /** Number of earlier attempts. */
  attempts: number
  generation: number
  payload: string
  /** Trace context of the operation that caused the event. */
  traceparent: string | null
  url: string
  headersEncrypted: string | null
  secretEncrypted: string
  previousSecretEncrypted: string | null
  previousSecretExpiresAt: Date | null
  /** Whether the last attempt at this endpoint failed. */
  endpointFailing: boolean
  /** Milliseconds by the database clock, which alone determines due times and leases. */
  claimedAt: number
}

/**
 * Commits without waiting for the WAL to be flushed. If PostgreSQL crashes at that moment, claimed or finished
 * deliveries become due again. Those that are not in a journal are sent twice, which receivers must expect. Nothing is
 * lost.
 */
const asyncCommit = `select set_config('synchronous_commit', 'off', true)`

/**
 * The first generation of a delivery that is queued again, in SQL: later than all of its claims so far, which the journal
 * of a dead process can still name.
 */
export const requeuedGeneration = `extract(epoch from now() - timestamptz '2020-01-01 00:00Z')::integer`

/** How many more deliveries of an endpoint this process can claim. */
export interface EndpointCapacity {
  endpointId: string
  deliveries: number
}

export interface Claim {
  leaseSeconds: number
  limit: number
  /** Endpoints are read in the order of their IDs, starting after this one. */
  afterEndpointId: string
  capacities: readonly EndpointCapacity[]
  /** Capacity of other endpoints: `failingWindow` if the last attempt failed, otherwise `defaultWindow`. */
  defaultWindow: number
  failingWindow: number
  /** If true, only endpoints with configured limits are claimed; otherwise, only those without. */
  isLimited?: boolean
}

const capacityColumns: Columns<EndpointCapacity> = {
  endpointId: { name: 'endpoint_id', type: 'word' },
  deliveries: { name: 'capacity', type: 'integer' },
}

/** `payload` is null if the event was deleted. */
type ClaimedRow = Omit<ClaimedDelivery, 'payload'> & { payload: string | null }

const claimDue = unnamedStatement<Lists<EndpointCapacity> & Required<Omit<Claim, 'capacities'>>, ClaimedRow>(
  ($) => `
  with recursive commit_mode as (
    ${asyncCommit}
  ), queue as (
    (
      select endpoint_id, claimed, due_at from webhook_deliveries where endpoint_id > ${$.afterEndpointId}
      order by endpoint_id, claimed, due_at limit 1
    )
    union all
    select next.endpoint_id, next.claimed, next.due_at
    from queue
    cross join lateral (
      select endpoint_id, claimed, due_at from webhook_deliveries where endpoint_id > queue.endpoint_id
      order by endpoint_id, claimed, due_at limit 1
    ) next
  ), due as (
    select delivery.row_id
    from queue
    cross join lateral (
      select coalesce(
        (
          select capacity from unnest(${arraysOf($, capacityColumns)}) as known (${namesOf(capacityColumns)})
          where known.endpoint_id = queue.endpoint_id
        ),
        case when failing_since is null then ${$.defaultWindow}::integer else ${$.failingWindow}::integer end
      ) as capacity
      from webhook_endpoints
      where id = queue.endpoint_id and enabled
        and (max_per_second is not null or max_concurrent is not null) = ${$.isLimited}::boolean
      limit 1
    ) endpoint
    cross join lateral (
      select found.row_id
      -- Claimed rows come first: they are only due if their worker did not finish in time.
      from (values (true), (false)) side (claimed)
      cross join lateral (
        select ctid as row_id from webhook_deliveries
        where endpoint_id = queue.endpoint_id and claimed = side.claimed and due_at <= now()
        order by due_at
        -- The planner does not know this limit, so it reads the index in order even without table statistics.
        limit endpoint.capacity
        for update skip locked
      ) found
      limit endpoint.capacity
    ) delivery
    where queue.due_at <= now() or not queue.claimed and (
      select true from webhook_deliveries
      where endpoint_id = queue.endpoint_id and claimed and due_at <= now()
      limit 1
    )
    limit ${$.limit}
  ), claimed as (
    update webhook_deliveries d
    set due_at = now() + ${$.leaseSeconds} * interval '1 second', generation = generation + 1, claimed = true
    where d.ctid = any (array(select row_id from due))
    returning d.account_id, d.id, d.endpoint_id, d.event_id, d.attempts, d.generation
  )
  select claimed.account_id as "accountId", claimed.id, claimed.endpoint_id as "endpointId",
    claimed.event_id as "eventId", claimed.attempts, claimed.generation, event.payload, event.traceparent, e.url,
    e.headers_encrypted as "headersEncrypted", e.secret_encrypted as "secretEncrypted",
    e.previous_secret_encrypted as "previousSecretEncrypted",
    e.previous_secret_expires_at as "previousSecretExpiresAt", e.failing_since is not null as "endpointFailing",
    extract(epoch from now())::float8 * 1000 as "claimedAt"
  from claimed
  cross join commit_mode
  left join lateral (
    select payload, traceparent from events where account_id = claimed.account_id and id = claimed.event_id limit 1
  ) event on true
  join webhook_endpoints e on e.id = claimed.endpoint_id
  order by claimed.endpoint_id`,
)

/**
 * Claims some of the due deliveries of each enabled endpoint. `queue` skips from endpoint to endpoint along the index,
 * so an endpoint with a hundred thousand waiting rows costs as much as one with a single row. Claiming moves `due_at`
 * to the end of the lease, so the claims of a crashed worker expire by themselves; they are claimed again before
 * waiting deliveries. A locked row is updated by its `ctid`, and its event is looked up by key, because joining both
 * tables by ID would scan them. Deliveries whose event was deleted are deleted too: otherwise they would be claimed
 * again and again and use up the capacity of their endpoint. Reads all accounts: one worker serves them all.
 */
export async function claimDueDeliveries(
  db: Kysely<Database>,
  { capacities, isLimited = false, ...claim }: Claim,
): Promise<ClaimedDelivery[]> {
  const rows = await claimDue(db, { ...claim, isLimited, ...listsOf(capacityColumns, capacities) })
  const claimed = rows.filter(hasEvent)
  if (claimed.length < rows.length)
    await deleteEventless(
      db,
      rows.filter((row) => !hasEvent(row)),
    )
  return claimed
}

function hasEvent(row: ClaimedRow): row is ClaimedDelivery {
  return row.payload !== null
}

async function deleteEventless(db: Kysely<Database>, deliveries: readonly DeliveryClaim[]): Promise<void> {
  await sql`
    delete from webhook_deliveries d using ${asRows(deliveries)} as claimed (account_id, id, generation)
    where d.account_id = claimed.account_id and d.id = claimed.id and d.generation = claimed.generation
      and not exists (select from events where account_id = d.account_id and id = d.event_id)`.execute(db)
}

/** Identifies one claim of a delivery. */
type DeliveryClaim = Pick<ClaimedDelivery, 'accountId' | 'id' | 'generation'>

function asRows(deliveries: readonly DeliveryClaim[]): RawBuilder<unknown> {
  return sql`unnest(
      ${deliveries.map((delivery) => delivery.accountId)}::text[], ${deliveries.map((delivery) => delivery.id)}::text[],
      ${deliveries.map((delivery) => delivery.generation)}::integer[]
    )`
}

/** A finished attempt and its consequences. */
export interface EndedAttempt {
  delivery: Pick<ClaimedDelivery, 'accountId' | 'id' | 'generation'>
  result: AttemptResult
  startedAt: Date
  /** Seconds until the next attempt; undefined if the delivery is finished. */
  waitSeconds: number | undefined
}

export interface DisabledEndpoint {
  endpointId: string
  reason: string
}

export interface RecordedAttempts {
  /** IDs of deliveries whose claim was lost because the lease had expired. */
  lost: ReadonlySet<string>
  /** Endpoints that these attempts disabled. */
  disabled: DisabledEndpoint[]
}

/** Attempts are counted in time slots of this length. */
const slotMinutes = 15

export const goneReason = inEnglish(disabledReasons.gone())
export const failingReason = inEnglish(disabledReasons.failing())
/** An endpoint whose deliveries fail for this long is disabled. */
const failingLimit = '5 days'

interface RecordedRow {
  lost: string | null
  disabled: string | null
  reason: string | null
}

interface AttemptToRecord {
  accountId: string
  deliveryId: string
  generation: number
  outcome: AttemptResult['outcome']
  waitSeconds: number | undefined
  startedAt: number
  durationMilliseconds: number
  statusCode: number | undefined
  error: string | undefined
  responseStart: string | undefined
}

const attemptColumns: Columns<AttemptToRecord> = {
  accountId: { name: 'account_id', type: 'word' },
  deliveryId: { name: 'id', type: 'word' },
  generation: { name: 'generation', type: 'integer' },
  outcome: { name: 'outcome', type: 'word' },
  waitSeconds: { name: 'wait_seconds', type: 'float8' },
  startedAt: { name: 'started_at', type: 'float8' },
  durationMilliseconds: { name: 'duration_ms', type: 'integer' },
  statusCode: { name: 'status_code', type: 'integer' },
  error: { name: 'error', type: 'text' },
  responseStart: { name: 'response_start', type: 'text' },
}

const recordAll = unnamedStatement<Lists<AttemptToRecord> & { afterLease: boolean }, RecordedRow>(
  ($) => `
  with commit_mode as (
    ${asyncCommit}
  ), result as (
    select account_id, id, generation, outcome, wait_seconds, to_timestamp(started_at / 1000) as started_at,
      duration_ms, status_code, error, response_start
    from unnest(${arraysOf($, attemptColumns)}) as r (${namesOf(attemptColumns)})
  ), finished as (
    delete from webhook_deliveries d using result r
    where d.account_id = r.account_id and d.id = r.id and r.wait_seconds is null
      and (d.generation < r.generation
        or d.generation = r.generation and (${$.afterLease}::boolean or d.due_at - now() > interval '0'))
    returning d.account_id, d.id, d.endpoint_id, d.event_id, d.attempts + 1 as number, d.created_at, r.outcome,
      r.started_at, r.duration_ms, r.status_code, r.error, r.response_start
  ), postponed as (
    update webhook_deliveries d
    set attempts = d.attempts + 1, claimed = false, due_at = now() + r.wait_seconds * interval '1 second'
    from result r
    where d.account_id = r.account_id and d.id = r.id and d.generation = r.generation
      and d.due_at - now() > interval '0' and r.wait_seconds is not null
    returning d.account_id, d.id, d.endpoint_id, d.event_id, d.attempts as number, d.created_at, r.outcome,
      r.started_at, r.duration_ms, r.status_code, r.error, r.response_start
  ), recorded as (
    select * from finished union all select * from postponed
  ), counted as (
    -- PostgreSQL runs these writes in reverse order. This one is listed first, so it runs last and locks its rows,
    -- which other batches wait for, only until the commit that follows.
    insert into webhook_attempt_counts as c (account_id, endpoint_id, slot, status_code, error, attempts, duration_ms,
      max_duration_ms, first_at, last_at)
    select account_id, endpoint_id, date_bin('${slotMinutes} min', now(), timestamptz '2000-01-01 00:00Z'),
      coalesce(status_code, 0), coalesce(error, ''), count(*), sum(duration_ms), max(duration_ms), now(), now()
    from recorded
    group by account_id, endpoint_id, status_code, error
    -- A fixed order, so that two batches cannot deadlock.
    order by account_id, endpoint_id, status_code, error
    on conflict (account_id, endpoint_id, slot, status_code, error) do update
    set attempts = c.attempts + excluded.attempts, duration_ms = c.duration_ms + excluded.duration_ms,
      max_duration_ms = greatest(c.max_duration_ms, excluded.max_duration_ms),
      first_at = least(c.first_at, excluded.first_at), last_at = greatest(c.last_at, excluded.last_at)
  ), archived as (
    insert into webhook_finished_deliveries
      (account_id, id, endpoint_id, event_id, outcome, attempts, created_at, finished_at)
    select account_id, id, endpoint_id, event_id, case when outcome = 'delivered' then 'delivered' else 'failed' end,
      number, created_at, now()
    from finished
  ), attempted as (
    insert into webhook_attempts (account_id, delivery_id, endpoint_id, event_id, number, started_at, duration_ms,
      status_code, error, response_start)
    select account_id, id, endpoint_id, event_id, number, started_at, duration_ms, status_code, error, response_start
    from recorded
  ), judged as (
    select endpoint_id, bool_or(outcome = 'delivered') as succeeded, bool_or(outcome = 'gone') as gone
    from recorded group by endpoint_id
  ), verdict as (
    select e.id, judged.succeeded, e.enabled and case
        when judged.gone then '${goneReason}'
        when not judged.succeeded and e.failing_since <= now() - interval '${failingLimit}' then '${failingReason}'
      end is not null as disables,
      case when judged.gone then '${goneReason}' else '${failingReason}' end as reason
    from webhook_endpoints e
    join judged on judged.endpoint_id = e.id
    where (judged.gone and e.enabled) or judged.succeeded = (e.failing_since is not null)
      or (not judged.succeeded and e.failing_since <= now() - interval '${failingLimit}')
    order by e.id
    for update of e
  ), changed as (
    update webhook_endpoints e
    set failing_since = case when verdict.succeeded then null else coalesce(e.failing_since, now()) end,
      enabled = e.enabled and not verdict.disables,
      disabled_reason = case when verdict.disables then verdict.reason else e.disabled_reason end,
      -- That it was disabled is announced too.
      announced_failing = e.announced_failing and not verdict.disables
    from verdict
    where e.id = verdict.id
    returning e.id, verdict.disables, verdict.reason
  )
  select id as lost, null as disabled, null as reason from result cross join commit_mode
  where id not in (select id from recorded)
  union all
  select null, id, reason from changed where disables`,
)

/**
 * Records and counts attempts, finishes or reschedules their deliveries and updates their endpoints, in one statement.
 * Applies only to deliveries that are still claimed: the generation matches, and the lease has not expired by the
 * database clock. A lower generation means that the database has lost the claim in a crash, so the delivery is finished. The lease is compared as `due_at - now()`, which no index supports; otherwise the planner would scan
 * all future retries instead of looking up each delivery by its key. Endpoints are locked in the order of their IDs, so
 * that two batches cannot deadlock. Writes to all accounts; each row names its own. `afterLease` also finishes deliveries
 * whose lease has expired and that nobody has claimed since, because a claim changes the generation.
 */
export async function recordAttempts(
  db: Kysely<Database>,
  ended: readonly EndedAttempt[],
  { afterLease = false }: { afterLease?: boolean } = {},
): Promise<RecordedAttempts> {
  const attempts = ended.map(({ delivery, result, startedAt, waitSeconds }) => ({
    accountId: delivery.accountId,
    deliveryId: delivery.id,
    generation: delivery.generation,
    outcome: result.outcome,
    waitSeconds,
    startedAt: startedAt.getTime(),
    durationMilliseconds: Math.round(result.durationMilliseconds),
    statusCode: result.statusCode,
    error: result.error && inEnglish(result.error),
    responseStart: result.responseStart,
  }))
  const rows = await recordAll(db, { ...listsOf(attemptColumns, attempts), afterLease })
  return {
    lost: new Set(rows.flatMap(({ lost }) => (lost === null ? [] : [lost]))),
    disabled: rows.flatMap(({ disabled, reason }) =>
      disabled === null ? [] : [{ endpointId: disabled, reason: reason ?? '' }],
    ),
  }
}

/** Makes claimed but unfinished deliveries due immediately. They are claimed again before waiting ones. */
export async function releaseClaims(db: Kysely<Database>, deliveries: readonly DeliveryClaim[]): Promise<void> {
  await sql`
    update webhook_deliveries d set due_at = now()
    from ${asRows(deliveries)} as held (account_id, id, generation)
    where d.account_id = held.account_id and d.id = held.id and d.generation = held.generation and d.due_at > now()`.execute(
    db,
  )
}

/**
 * Shifts due times back after the clock was set back; otherwise deliveries would be late by the same amount. A delivery
 * that may be in progress is only moved if its lease ends later than any lease granted since then, because those must
 * not end early. Reads all accounts: they share a clock.
 */
export async function shiftDeliveries(db: Kysely<Database>, seconds: number): Promise<void> {
  await sql`
    update webhook_deliveries
    set due_at = due_at - make_interval(secs => ${seconds})
    where due_at - now() > case
      when claimed then make_interval(secs => ${sql.lit(longerThanLeaseSeconds)}) else interval '0'
    end`.execute(db)
}

/**
 * Oldest due times of the endpoint `e`: of its claimed and of its waiting deliveries, which the index orders
 * separately.
 */
export const oldestDue = sql`(
  (select due_at from webhook_deliveries where endpoint_id = e.id and claimed order by due_at limit 1)
  union all
  (select due_at from webhook_deliveries where endpoint_id = e.id and not claimed order by due_at limit 1)
)`

export interface QueueState {
  /**
   * Seconds since the oldest unclaimed delivery became due; 0 if there is none. An endpoint that fails or has limits
   * makes its deliveries wait by itself, so for its deliveries, they count from its last attempt.
   */
  oldestDueSeconds: number
  /** Number of waiting and running deliveries, including those of disabled endpoints but not of removed ones. */
  waiting: number
  /** Enabled endpoints whose last attempt failed. */
  failingEndpoints: number
  deadTuples: number
}

/** Larger queues are not counted exactly, because that would be too expensive. */
const countedAtMost = 1_000_000

/** Since when Waybill could have attempted the delivery `first` of the endpoint `e`. */
const lateSince = sql`case
  when e.failing_since is null and e.max_per_second is null and e.max_concurrent is null then first.due_at
  when exists (select from webhook_deliveries where endpoint_id = e.id and claimed and due_at > now()) then now()
  else greatest(first.due_at, (
    select max(last_at) from webhook_attempt_counts
    where account_id = e.account_id and endpoint_id = e.id and slot > now() - interval '1 hour'
  ))
end`

/** Reads all accounts, for metrics and alerts of the operator. */
export async function readQueueState(db: Kysely<Database>): Promise<QueueState> {
  const { rows } = await sql<{ oldest: number; waiting: number; failing: number; dead: number }>`
    select
      (
        select coalesce(greatest(0, extract(epoch from now() - min(${lateSince}))), 0)::float8
        from webhook_endpoints e
        cross join lateral ${oldestDue} first
        where e.enabled
      ) as oldest,
      (
        select count(*)::integer from (
          select from webhook_deliveries d where exists (select from webhook_endpoints where id = d.endpoint_id)
          limit ${sql.lit(countedAtMost)}
        ) counted
      ) as waiting,
      (select count(*)::integer from webhook_endpoints where enabled and failing_since is not null) as failing,
      (
        select coalesce(max(n_dead_tup), 0)::integer from pg_stat_user_tables where relid = 'webhook_deliveries'::regclass
      ) as dead`.execute(db)
  const row = rows[0]
  if (!row) throw new Error('the query for the queue state returned no row')
  return {
    oldestDueSeconds: row.oldest,
    waiting: row.waiting,
    failingEndpoints: row.failing,
    deadTuples: row.dead,
  }
}
