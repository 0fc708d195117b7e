import { type Kysely, sql } from 'kysely'

/**
 * Adds statuses, events and webhook deliveries. The delivery queue holds only waiting and running deliveries, so that
 * it stays small; finished ones move to tables that are partitioned by time.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `alter table whatsapp_accounts
      add column quality_rating text,
      add column throughput_level text,
      add column next_sync_at timestamptz not null default now()`,
    `create index whatsapp_accounts_next_sync_at on whatsapp_accounts (next_sync_at)`,
    `create index whatsapp_accounts_waba_id on whatsapp_accounts (waba_id)`,
    // For the gauge of messages whose outcome is unknown, and for `waybill doctor`.
    `create index messages_pending on messages (created_at) where status = 'pending'`,
    `create table webhook_endpoints (
      id text collate "C" primary key,
      account_id text collate "C" not null references accounts on delete cascade,
      url text not null,
      events text[] not null,
      description text,
      headers_encrypted text,
      secret_encrypted text not null,
      previous_secret_encrypted text,
      previous_secret_expires_at timestamptz,
      enabled boolean not null default true,
      disabled_reason text,
      failing_since timestamptz,
      created_at timestamptz not null default now()
    )`,
    `create index webhook_endpoints_account on webhook_endpoints (account_id, id)`,
    `create table events (
      account_id text collate "C" not null,
      id text collate "C" not null,
      type text not null,
      message_id text collate "C" not null,
      payload text not null,
      created_at timestamptz not null,
      primary key (account_id, id)
    ) partition by range (id)`,
    `create index events_message on events (account_id, message_id)`,
    `create table webhook_deliveries (
      account_id text collate "C" not null,
      id text collate "C" not null,
      endpoint_id text collate "C" not null,
      event_id text collate "C" not null,
      due_at timestamptz not null,
      attempts integer not null default 0,
      generation integer not null default 0,
      created_at timestamptz not null,
      primary key (account_id, id)
    ) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)`,
    // The queue of one endpoint, ordered by due time: a claim takes some deliveries of each endpoint.
    `create index webhook_deliveries_queue on webhook_deliveries (endpoint_id, due_at)`,
    `create table webhook_finished_deliveries (
      account_id text collate "C" not null,
      id text collate "C" not null,
      endpoint_id text collate "C" not null,
      event_id text collate "C" not null,
      outcome text not null check (outcome in ('delivered', 'failed')),
      attempts integer not null,
      created_at timestamptz not null,
      finished_at timestamptz not null,
      primary key (account_id, id)
    ) partition by range (id)`,
    // For the list of an endpoint's deliveries, and for finding missed events.
    `create index webhook_finished_deliveries_event on webhook_finished_deliveries (account_id, endpoint_id, event_id)`,
    `create table webhook_attempts (
      account_id text collate "C" not null,
      delivery_id text collate "C" not null,
      endpoint_id text collate "C" not null,
      event_id text collate "C" not null,
      number integer not null,
      started_at timestamptz not null,
      duration_ms integer not null,
      status_code integer,
      error text,
      response_start text
    ) partition by range (started_at)`,
    `create index webhook_attempts_delivery on webhook_attempts (account_id, delivery_id)`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
