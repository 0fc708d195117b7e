import { type Kysely, sql } from 'kysely'
import type { Database } from '../../platform/db/schema.ts'

export interface SlotRow {
  endpointId: string
  startAt: Date
  attempts: number
  succeeded: number
  durationMilliseconds: number
  maxDurationMilliseconds: number
}

export interface SlotRange {
  from: Date
  slotSeconds: number
}

/** Counts attempts by time slot, oldest first. `endpointId` limits them to one endpoint. */
export async function findSlots(
  db: Kysely<Database>,
  { accountId, endpointId }: { accountId: string; endpointId?: string | undefined },
  { from, slotSeconds }: SlotRange,
): Promise<SlotRow[]> {
  const { rows } = await sql<SlotRow>`
    select endpoint_id as "endpointId",
      date_bin(make_interval(secs => ${slotSeconds}), slot, ${from}::timestamptz) as "startAt",
      sum(attempts)::float8 as attempts, coalesce(sum(attempts) filter (where error = ''), 0)::float8 as succeeded,
      sum(duration_ms)::float8 as "durationMilliseconds", max(max_duration_ms) as "maxDurationMilliseconds"
    from webhook_attempt_counts
    where account_id = ${accountId} and slot >= ${from}
      ${endpointId === undefined ? sql`` : sql`and endpoint_id = ${endpointId}`}
    group by 1, 2
    order by 1, 2`.execute(db)
  return rows
}

export interface FailureRow {
  error: string
  attempts: number
  firstAt: Date
  lastAt: Date
}

/** Groups failed attempts by error, which includes the status code, latest first. */
export async function findFailures(
  db: Kysely<Database>,
  { accountId, endpointId }: { accountId: string; endpointId: string },
  { from, limit }: { from: Date; limit: number },
): Promise<FailureRow[]> {
  const { rows } = await sql<FailureRow>`
    select error, sum(attempts)::float8 as attempts, min(first_at) as "firstAt", max(last_at) as "lastAt"
    from webhook_attempt_counts
    where account_id = ${accountId} and endpoint_id = ${endpointId} and slot >= ${from} and error <> ''
    group by error
    order by "lastAt" desc, error
    limit ${limit}`.execute(db)
  return rows
}

export interface LastFailureRow {
  endpointId: string
  statusCode: number
  error: string
  maxDurationMilliseconds: number
  isMixed: boolean
}

/**
 * Returns how the last attempt failed at each failing endpoint, and whether attempts failed in different ways since its
 * last success. The slot in which the failures began may also count earlier ones, but only those with the same error.
 */
export async function findLastFailures(db: Kysely<Database>, accountId: string): Promise<LastFailureRow[]> {
  const { rows } = await sql<LastFailureRow>`
    select distinct on (endpoint_id) endpoint_id as "endpointId", status_code as "statusCode", error,
      max_duration_ms as "maxDurationMilliseconds", is_mixed as "isMixed"
    from (
      select c.endpoint_id, c.status_code, c.error, max(c.max_duration_ms) as max_duration_ms,
        max(c.last_at) as last_at, count(*) over (partition by c.endpoint_id) > 1 as is_mixed
      from webhook_endpoints e
      join webhook_attempt_counts c on c.account_id = e.account_id and c.endpoint_id = e.id
      where e.account_id = ${accountId} and e.failing_since is not null
        and c.slot > e.failing_since - interval '1 hour' and c.last_at >= e.failing_since and c.error <> ''
      group by c.endpoint_id, c.status_code, c.error
    ) failures
    order by endpoint_id, last_at desc`.execute(db)
  return rows
}
