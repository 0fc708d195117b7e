import { type Kysely, sql } from 'kysely'

/**
 * What tells rows apart stands first in an index: a new entry finds its place by comparing that, and not an
 * account's id that is the same in all of them. An id of ours is unique by itself and needs no account before it.
 * Text that is searched for is compared byte by byte (`collate "C"`), not by the rules of a language, which cost
 * more and may change with the operating system, under an index that was built by the old ones.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    // At once: were one locked while an index of another is made, who reads both the other way round would be in a deadlock.
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
