import { type Kysely, type Selection, sql } from 'kysely'
import { columnsOf, toRow } from '../../platform/db/names.ts'
import type { Database } from '../../platform/db/schema.ts'
import { closeAlerts } from '../alerts/store.ts'

const columns = columnsOf(
  'id account_id url events description headers_encrypted secret_encrypted previous_secret_encrypted',
  'previous_secret_expires_at enabled disabled_reason failing_since max_per_second max_concurrent created_at',
)

export type EndpointRow = Selection<Database, 'webhook_endpoints', (typeof columns)[number]>

export interface EndpointSummaryRow extends EndpointRow {
  waiting: string
  /** ID of the oldest event whose delivery is waiting, or has failed for good since the endpoint started failing. */
  oldestMissedEvent: string | null
  failed: string
  lastDeliveredAt: Date | null
}

type NewEndpointRow = Pick<
  EndpointRow,
  'id' | 'accountId' | 'url' | 'events' | 'description' | 'headersEncrypted' | 'secretEncrypted' | 'createdAt'
> &
  Partial<Pick<EndpointRow, 'maxPerSecond' | 'maxConcurrent'>>

export async function insertEndpoint(db: Kysely<Database>, row: NewEndpointRow): Promise<void> {
  await db.insertInto('webhook_endpoints').values(toRow(row)).execute()
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
  return db
    .selectFrom('webhook_endpoints')
    .select(columns)
    .where('account_id', '=', accountId)
    .where('id', '=', endpointId)
}

/** Reads all accounts, for operators only. */
export function findAllEndpoints(db: Kysely<Database>): Promise<EndpointRow[]> {
  return db.selectFrom('webhook_endpoints').select(columns).orderBy('id').execute()
}

/** Reads all accounts, because operators pass an endpoint ID without its account. */
export async function findAccountOfEndpoint(db: Kysely<Database>, endpointId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('webhook_endpoints')
    .select('account_id as accountId')
    .where('id', '=', endpointId)
    .executeTakeFirst()
  return row?.accountId
}

export type EndpointChanges = Partial<
  Pick<
    EndpointRow,
    | 'url'
    | 'events'
    | 'description'
    | 'headersEncrypted'
    | 'enabled'
    | 'disabledReason'
    | 'failingSince'
    | 'secretEncrypted'
    | 'previousSecretEncrypted'
    | 'previousSecretExpiresAt'
    | 'maxPerSecond'
    | 'maxConcurrent'
  >
>

/** Changes that are undefined stay as they are. Returns whether the endpoint exists. */
export async function changeEndpoint(
  trx: Kysely<Database>,
  accountId: string,
  endpointId: string,
  changes: EndpointChanges,
): Promise<boolean> {
  const row = await trx
    .updateTable('webhook_endpoints')
    .set(toRow(changes))
    .where('account_id', '=', accountId)
    .where('id', '=', endpointId)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Closes the alert about an endpoint, without a claim that it works again. In the transaction of the change that ends it,
 * because a failure from then on needs an alert of its own.
 */
export async function endEndpointAlert(trx: Kysely<Database>, accountId: string, endpointId: string): Promise<void> {
  await trx
    .updateTable('webhook_endpoints')
    .set({ announced_failing: false })
    .where('account_id', '=', accountId)
    .where('id', '=', endpointId)
    .execute()
  await closeAlerts(trx, { accountId, code: 'endpoint_failing', subjectId: endpointId })
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

/** Number of latest finished deliveries that are read. Limits the index scan. */
const recentDeliveries = 1000

interface Waiting {
  waiting: string
  oldestEvent: string | null
}

interface Recent {
  lastDeliveredAt: Date | null
  failed: string
  oldestFailedEvent: string | null
}

function selectSummaries(db: Kysely<Database>) {
  const waiting = sql<Waiting>`(
    select count(*) as waiting, min(event_id) as "oldestEvent"
    from webhook_deliveries where endpoint_id = webhook_endpoints.id
  )`.as<'queue'>(sql`queue`)
  const recent = sql<Recent>`(
    select max(finished_at) filter (where outcome = 'delivered') as "lastDeliveredAt",
      count(*) filter (where outcome = 'failed' and finished_at >= webhook_endpoints.failing_since) as failed,
      min(event_id) filter (where outcome = 'failed' and finished_at >= webhook_endpoints.failing_since)
        as "oldestFailedEvent"
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
    .select(columns)
    .select(['queue.waiting', 'recent.failed', 'recent.lastDeliveredAt'])
    .select(sql<string | null>`least(queue."oldestEvent", recent."oldestFailedEvent")`.as('oldestMissedEvent'))
}
