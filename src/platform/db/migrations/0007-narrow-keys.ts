import { type Kysely, sql } from 'kysely'

/**
 * Puts the selective column first in each index, because comparing an account ID that is the same in many rows slows
 * down inserts. Our IDs are unique by themselves and need no account before them. Text that is searched for is compared
 * bytewise (`collate "C"`): language rules cost more, and an update of the operating system may change them under an
 * existing index.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    // Locks all tables at once. Locking them one by one could deadlock with queries that read them in another order.
    `lock table messages, webhook_finished_deliveries, events, webhook_attempts in access exclusive mode`,
    `drop index messages_to_number`,
    `drop index messages_external_id`,
    `alter table messages
      alter column to_number type text collate "C",
      alter column external_id type text collate "C"`,
    `create index messages_to_number on messages (to_number, account_id, id)`,
    `create index messages_external_id on messages (external_id, account_id, id) where external_id is not null`,
    `drop index events_message`,
    `create index events_message on events (message_id)`,
    `drop index webhook_finished_deliveries_event`,
    `create index webhook_finished_deliveries_event on webhook_finished_deliveries (endpoint_id, event_id)`,
    `drop index webhook_attempts_delivery`,
    `create index webhook_attempts_delivery on webhook_attempts (delivery_id)`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
