import { type Insertable, type Kysely, type Selectable, sql } from 'kysely'
import type { Database, WebhookEndpointsTable } from '../../platform/db/schema.ts'

export type EndpointRow = Selectable<WebhookEndpointsTable>

export interface EndpointSummaryRow extends EndpointRow {
  waiting: string
  /** ID of the oldest event whose delivery is waiting, or has failed for good since the endpoint started failing. */
  oldest_missed_event: string | null
  failed: string
  last_delivered_at: Date | null
}

export async function insertEndpoint(db: Kysely<Database>, row: Insertable<WebhookEndpointsTable>): Promise<void> {
  await db.insertInto('webhook_endpoints').values(row).execute()
}

export async function countEndpoints(db: Kysely<Database>, accountId: string): Promise<number> {
  const row = await db
    .selectFrom('webhook_endpoints')
    .where('account_id', '=', accountId)
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(row.count)
}

/** IDs sort by time, so the oldest endpoint comes first. */
export function findEndpointSummaries(db: Kysely<Database>, accountId: string): Promise<EndpointSummaryRow[]> {
  return selectSummaries(db).where('account_id', '=', accountId).orderBy('id').execute()
}

export function findEndpointSummary(
  db: Kysely<Database>,
  accountId: string,
  endpointId: string,
): Promise<EndpointSummaryRow | undefined> {
  return selectSummaries(db).where('account_id', '=', accountId).where('id', '=', endpointId).executeTakeFirst()
}

export function findEndpoint(
  db: Kysely<Database>,
  accountId: string,
  endpointId: string,
): Promise<EndpointRow | undefined> {
  return selectEndpoint(db, accountId, endpointId).executeTakeFirst()
}

/** Locks an endpoint, to serialize changes that depend on its state. */
export function lockEndpoint(
  db: Kysely<Database>,
  accountId: string,
  endpointId: string,
): Promise<EndpointRow | undefined> {
  return selectEndpoint(db, accountId, endpointId).forUpdate().executeTakeFirst()
}

function selectEndpoint(db: Kysely<Database>, accountId: string, endpointId: string) {
  return db.selectFrom('webhook_endpoints').selectAll().where('account_id', '=', accountId).where('id', '=', endpointId)
}

/** Reads all accounts, for operators only. */
export function findAllEndpoints(db: Kysely<Database>): Promise<EndpointRow[]> {
  return db.selectFrom('webhook_endpoints').selectAll().orderBy('id').execute()
}

/** Reads all accounts, because operators pass an endpoint ID without its account. */
export async function findAccountOfEndpoint(db: Kysely<Database>, endpointId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('webhook_endpoints')
    .select('account_id')
    .where('id', '=', endpointId)
    .executeTakeFirst()
  return row?.account_id
}

export type EndpointChanges = Partial<
  Pick<
    EndpointRow,
    | 'url'
    | 'events'
    | 'description'
    | 'headers_encrypted'
    | 'enabled'
    | 'disabled_reason'
    | 'failing_since'
    | 'secret_encrypted'
    | 'previous_secret_encrypted'
    | 'previous_secret_expires_at'
    | 'max_per_second'
    | 'max_concurrent'
  >
>

/** Returns whether the endpoint exists. */
export async function changeEndpoint(
  db: Kysely<Database>,
  accountId: string,
  endpointId: string,
  changes: EndpointChanges,
): Promise<boolean> {
  const row = await db
    .updateTable('webhook_endpoints')
    .set(changes)
    .where('account_id', '=', accountId)
    .where('id', '=', endpointId)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/** Returns whether the endpoint existed. */
export async function deleteEndpoint(db: Kysely<Database>, accountId: string, endpointId: string): Promise<boolean> {
  const row = await db
    .deleteFrom('webhook_endpoints')
    .where('account_id', '=', accountId)
    .where('id', '=', endpointId)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Returns false if the secret is no longer the one that the caller read, so that no concurrent change is overwritten.
 */
export async function replaceEndpointSecret(
  db: Kysely<Database>,
  row: { account_id: string; id: string },
  column: 'secret_encrypted' | 'previous_secret_encrypted' | 'headers_encrypted',
  { from, to }: { from: string; to: string },
): Promise<boolean> {
  const changed = await db
    .updateTable('webhook_endpoints')
    .set({ [column]: to })
    .where('account_id', '=', row.account_id)
    .where('id', '=', row.id)
    .where(column, '=', from)
    .returning('id')
    .executeTakeFirst()
  return changed !== undefined
}

/** Number of latest finished deliveries that are read. Limits the index scan. */
const recentDeliveries = 1000

interface Waiting {
  waiting: string
  oldest_event: string | null
}

interface Recent {
  last_delivered_at: Date | null
  failed: string
  oldest_failed_event: string | null
}

function selectSummaries(db: Kysely<Database>) {
  const waiting = sql<Waiting>`(
    select count(*) as waiting, min(event_id) as oldest_event
    from webhook_deliveries where endpoint_id = webhook_endpoints.id
  )`.as<'queue'>(sql`queue`)
  const recent = sql<Recent>`(
    select max(finished_at) filter (where outcome = 'delivered') as last_delivered_at,
      count(*) filter (where outcome = 'failed' and finished_at >= webhook_endpoints.failing_since) as failed,
      min(event_id) filter (where outcome = 'failed' and finished_at >= webhook_endpoints.failing_since)
        as oldest_failed_event
    from (
      select finished_at, outcome, event_id from webhook_finished_deliveries finished
      where finished.account_id = webhook_endpoints.account_id and finished.endpoint_id = webhook_endpoints.id
      order by finished.event_id desc limit ${sql.lit(recentDeliveries)}
    ) latest
  )`.as<'recent'>(sql`recent`)
  return db
    .selectFrom('webhook_endpoints')
    .innerJoinLateral(waiting, (join) => join.onTrue())
    .innerJoinLateral(recent, (join) => join.onTrue())
    .selectAll('webhook_endpoints')
    .select(['queue.waiting', 'recent.failed', 'recent.last_delivered_at'])
    .select(sql<string | null>`least(queue.oldest_event, recent.oldest_failed_event)`.as('oldest_missed_event'))
}
