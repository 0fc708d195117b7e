import { type Kysely, sql } from 'kysely'
import type { Database } from '../../src/platform/db/schema.ts'

export interface GivenEvent {
  accountId: string
  id: string
  type: string
  messageId: string
  payload: string
  createdAt: Date
}

/** Inserts events at given times with a due delivery for each subscribed endpoint. */
export async function insertEvents(
  db: Kysely<Database>,
  events: readonly GivenEvent[],
  newDeliveryId: () => string,
): Promise<void> {
  const columns = [
    events.map((event) => event.accountId),
    events.map((event) => event.id),
    events.map((event) => event.type),
    events.map((event) => event.messageId),
    events.map((event) => event.payload),
  ].map((column) => sql`${column}::text[]`)
  await sql`
    insert into events (account_id, id, type, message_id, payload, created_at)
    select * from unnest(${sql.join(columns)}, ${events.map((event) => event.createdAt)}::timestamptz[])`.execute(db)
  const endpoints = await db.selectFrom('webhook_endpoints').select(['id', 'account_id', 'events']).execute()
  const rows = events.flatMap((event) =>
    endpoints
      .filter((endpoint) => endpoint.account_id === event.accountId && endpoint.events.includes(event.type))
      .map((endpoint) => ({ account_id: event.accountId, event_id: event.id, endpoint_id: endpoint.id })),
  )
  await sql`
    insert into webhook_deliveries (account_id, event_id, endpoint_id, id, due_at, created_at)
    select *, now(), now() from unnest(
      ${rows.map((row) => row.account_id)}::text[], ${rows.map((row) => row.event_id)}::text[],
      ${rows.map((row) => row.endpoint_id)}::text[], ${rows.map(newDeliveryId)}::text[]
    )`.execute(db)
}
