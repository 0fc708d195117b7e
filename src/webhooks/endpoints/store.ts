import { type Insertable, type Kysely, type Selectable, sql } from 'kysely'
import type { Database, WebhookEndpointsTable } from '../../platform/db/schema.ts'

export type EndpointRow = Selectable<WebhookEndpointsTable>

export interface EndpointSummaryRow extends EndpointRow {
  /** Never null, since it is a count. */
  waiting: string | null
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
  return db
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('id', '=', endpointId)
    .executeTakeFirst()
}

/** Locks an endpoint, so that changes that depend on its state run one after another. */
export function lockEndpoint(
  db: Kysely<Database>,
  accountId: string,
  endpointId: string,
): Promise<EndpointRow | undefined> {
  return db
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('id', '=', endpointId)
    .forUpdate()
    .executeTakeFirst()
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
 * Returns whether the secret was still the one that the caller read, so that a concurrent change is not overwritten.
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

/**
 * Number of deliveries searched for the last success, which bounds the index scan. Older successes are not relevant.
 */
const recentDeliveries = 1000

function selectSummaries(db: Kysely<Database>) {
  return db
    .selectFrom('webhook_endpoints')
    .selectAll()
    .select((eb) => [
      eb
        .selectFrom('webhook_deliveries')
        .whereRef('webhook_deliveries.endpoint_id', '=', 'webhook_endpoints.id')
        .select((count) => count.fn.countAll<string>().as('count'))
        .as('waiting'),
      sql<Date | null>`(
        select max(recent.finished_at) filter (where recent.outcome = 'delivered')
        from (
          select finished_at, outcome from webhook_finished_deliveries finished
          where finished.account_id = webhook_endpoints.account_id and finished.endpoint_id = webhook_endpoints.id
          order by finished.event_id desc limit ${sql.lit(recentDeliveries)}
        ) recent)`.as('last_delivered_at'),
    ])
}
