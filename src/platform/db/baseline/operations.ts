/** Alerts, queued emails and chat posts, and the server itself. */
export const operationTables = [
  // When and how an account receives alerts; an account without a row has the defaults. Written by the settings; the outbox
  // records problems of the chat.
  `create table alert_settings (
    account_id text collate "C" primary key references accounts on delete cascade,
    chat_url_encrypted text,
    chat_format text,
    -- Why the last post failed permanently; null after a success.
    chat_problem text,
    chat_problem_at timestamptz,
    -- Null: no alert.
    failure_rate_percent integer,
    delivery_lag_seconds integer,
    -- Null: no quiet hours. Otherwise all four columns are set.
    quiet_time_zone text,
    quiet_from text,
    quiet_until text,
    quiet_except_critical boolean,
    -- Null: each alert is sent once.
    repeat_hours integer,
    -- Messages per hour below which the failure rate raises no alert.
    failure_rate_min_messages integer not null default 20 check (failure_rate_min_messages > 0),
    -- Messages without a status that raise an alert; null: no alert.
    no_status_min_messages integer default 10 check (no_status_min_messages > 0)
  )`,

  // Problems for which an alert was sent, or will be sent after quiet hours. Written by the alert job.
  `create table alerts (
    account_id text collate "C" not null references accounts on delete cascade,
    id text collate "C" not null,
    code text not null,
    -- ID of what the alert is about.
    subject_id text collate "C" not null,
    severity text not null,
    title text not null,
    body text not null,
    recovery_title text,
    recovery_body text,
    opened_at timestamptz not null,
    sent_at timestamptz,
    -- When it is sent next: after quiet hours, or again.
    due_at timestamptz,
    acknowledged_at timestamptz,
    acknowledged_by text,
    recovered_at timestamptz,
    primary key (account_id, id)
  )`,
  `create unique index alerts_open on alerts (account_id, code, subject_id) where recovered_at is null`,
  `create index alerts_due on alerts (due_at) where due_at is not null`,

  // Alerts that are waiting to be posted to a chat. Written with the alert, deleted once posted.
  `create table chat_posts (
    id text collate "C" primary key,
    account_id text collate "C" not null references accounts on delete cascade,
    content_encrypted text not null,
    attempts integer not null default 0,
    due_at timestamptz not null default now(),
    expires_at timestamptz not null,
    created_at timestamptz not null default now()
  )`,
  `create index chat_posts_due_at on chat_posts (due_at)`,
  `create index chat_posts_account on chat_posts (account_id)`,

  // Emails that are waiting to be sent. Written by sign-in, invitations and alerts, deleted once sent.
  `create table emails (
    id text collate "C" primary key,
    -- Null for emails about a user instead of an account.
    account_id text collate "C" references accounts on delete cascade,
    kind text not null,
    recipient text not null,
    -- Subject and texts, encrypted because they hold links.
    content_encrypted text not null,
    attempts integer not null default 0,
    due_at timestamptz not null default now(),
    expires_at timestamptz not null,
    created_at timestamptz not null default now()
  )`,
  `create index emails_due_at on emails (due_at)`,

  // A single row: the latest time that any process has recorded, written about once a second.
  `create table database_clock (
    only_one boolean primary key default true check (only_one),
    highest timestamptz not null
  ) with (fillfactor = 50)`,
  `insert into database_clock (highest) values (clock_timestamp())`,

  // Server processes, each of which writes its own row.
  `create table server_processes (
    id text collate "C" primary key,
    version text not null,
    role text not null,
    host text not null,
    started_at timestamptz not null default now(),
    seen_at timestamptz not null default now(),
    -- Periodic work with its last run, as JSON.
    jobs text not null
  )`,
]
