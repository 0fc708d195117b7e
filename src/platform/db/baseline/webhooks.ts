/** Events, webhook endpoints and deliveries. Growing tables are partitioned by week (partitions.ts). */
export const webhookTables = [
  // Where an account receives events. Written by the API, the dashboard and the command line; the worker records failures
  // and disables endpoints that keep failing.
  `create table webhook_endpoints (
    id text collate "C" primary key,
    account_id text collate "C" not null references accounts on delete cascade,
    url text not null,
    events text[] not null,
    description text,
    -- Extra request headers as encrypted JSON.
    headers_encrypted text,
    secret_encrypted text not null,
    -- The secret before the last rotation. It also signs until it expires.
    previous_secret_encrypted text,
    previous_secret_expires_at timestamptz,
    enabled boolean not null default true,
    disabled_reason text,
    -- Time of the first of the consecutive failed attempts.
    failing_since timestamptz,
    created_at timestamptz not null default now(),
    -- Whether endpoint.failing was sent to the other endpoints of the account.
    announced_failing boolean not null default false,
    max_per_second integer check (max_per_second > 0),
    max_concurrent integer check (max_concurrent > 0),
    -- Earlier attempts of an endpoint with a rate limit have used it up until this time.
    paced_until timestamptz
  )`,
  `create index webhook_endpoints_account on webhook_endpoints (account_id, id)`,
  `create index webhook_endpoints_limited on webhook_endpoints (id)
    where max_per_second is not null or max_concurrent is not null`,

  // Webhook events, each written in the transaction of the change that it reports.
  `create table events (
    account_id text collate "C" not null,
    id text collate "C" not null,
    type text not null,
    message_id text collate "C" not null,
    -- The webhook body, byte for byte as it is signed.
    payload text not null,
    created_at timestamptz not null,
    -- The trace of what caused the event, so that its deliveries continue it in any process.
    traceparent text collate "C",
    primary key (account_id, id)
  ) partition by range (id)`,
  `create index events_message on events (message_id)`,

  // The time of the last event ID of each account, written with every batch of events and locked until its transaction
  // commits: IDs become visible in order, whatever the clock shows. Space is left for the next row version.
  `create table event_clocks (
    account_id text collate "C" primary key,
    -- The time in the last ID, which may be ahead of the clock.
    last_milliseconds bigint not null,
    -- The largest difference by which an ID was ahead of the clock.
    ahead_milliseconds bigint not null default 0
  ) with (fillfactor = 50)`,

  // The queue: deliveries that are waiting or in progress. Written with their events, by claims and by results.
  `create table webhook_deliveries (
    account_id text collate "C" not null,
    id text collate "C" not null,
    endpoint_id text collate "C" not null,
    event_id text collate "C" not null,
    -- When the next attempt is due; during an attempt, when its lease ends.
    due_at timestamptz not null,
    attempts integer not null default 0,
    -- Incremented by each claim, so that a worker whose claim was taken over cannot complete the delivery.
    generation integer not null default 0,
    created_at timestamptz not null,
    claimed boolean not null default false,
    primary key (account_id, id)
  ) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)`,
  // Two queues for each endpoint, ordered by due time: of waiting deliveries and of claimed ones.
  `create index webhook_deliveries_queue on webhook_deliveries (endpoint_id, claimed, due_at)`,

  // Deliveries that ended, apart from the queue so that it stays small. Written by the worker.
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
  `create index webhook_finished_deliveries_event on webhook_finished_deliveries (endpoint_id, event_id)`,

  // The HTTP requests of deliveries. Written by the worker.
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
  `create index webhook_attempts_delivery on webhook_attempts (delivery_id)`,

  // Attempts of an endpoint in a quarter of an hour that ended alike, for the dashboard. Written by the statement that
  // records attempts. No foreign key: a new row would wait for whoever changes the endpoint.
  `create table webhook_attempt_counts (
    account_id text collate "C" not null,
    endpoint_id text collate "C" not null,
    slot timestamptz not null,
    -- 0: no response.
    status_code integer not null,
    -- Empty: success.
    error text collate "C" not null,
    attempts integer not null,
    -- The sum.
    duration_ms bigint not null,
    max_duration_ms integer not null,
    first_at timestamptz not null,
    last_at timestamptz not null,
    primary key (account_id, endpoint_id, slot, status_code, error)
  ) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)`,
  `create index webhook_attempt_counts_slot on webhook_attempt_counts (slot)`,
]
