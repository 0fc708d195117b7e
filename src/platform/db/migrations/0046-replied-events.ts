import type { Kysely } from 'kysely'
import { createIndexOnline } from '../migrate/online.ts'
import type { Database } from '../schema.ts'

/**
 * Indexes the replies among the events, by which people are found whose customer service window is open. Replies are few
 * among the events, so the index is small, and other events do not write to it.
 */
export function run(db: Kysely<Database>): Promise<void> {
  return createIndexOnline(db, {
    name: 'events_replied',
    table: 'events',
    definition: "(account_id, id) include (message_id) where type = 'message.replied'",
  })
}
