import { type Kysely, sql } from 'kysely'

/**
 * Marks claimed deliveries, so that those whose lease ends are attempted before the backlog of their endpoint. Adds
 * limits that the owner of an endpoint sets.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `alter table webhook_deliveries add column claimed boolean not null default false`,
    `drop index webhook_deliveries_queue`,
    // Two queues for each endpoint, ordered by due time: of waiting deliveries and of claimed ones.
    `create index webhook_deliveries_queue on webhook_deliveries (endpoint_id, claimed, due_at)`,
    `alter table webhook_endpoints
      add column max_per_second integer check (max_per_second > 0),
      add column max_concurrent integer check (max_concurrent > 0),
      -- Attempts of an endpoint with a rate limit are accounted for until this time.
      add column paced_until timestamptz`,
    `create index webhook_endpoints_limited on webhook_endpoints (id)
      where max_per_second is not null or max_concurrent is not null`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
