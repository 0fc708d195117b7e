import { type Kysely, type RawBuilder, sql } from 'kysely'
import { accountTables, auditTables, userTables } from '../baseline/accounts.ts'
import { countTables, messageTables, recipientTables } from '../baseline/messages.ts'
import { operationTables } from '../baseline/operations.ts'
import { webhookTables } from '../baseline/webhooks.ts'
import { whatsAppTables } from '../baseline/whatsapp.ts'
import type { Database } from '../schema.ts'
import { createIndexOnline } from './online.ts'

/** A change in one transaction. Its locks block the version before, so it must be short: no rewrite, no scan. */
interface TransactionalMigration {
  up: (trx: Kysely<unknown>) => Promise<void>
}

/**
 * Work that takes long: filling a column, building an index, validating a constraint (`online.ts`). It runs outside a
 * transaction and is repeated after a failure, so it must continue where it stopped.
 */
interface OnlineMigration {
  run: (db: Kysely<Database>, onProgress: (rows: number) => void) => Promise<void>
}

export type Migration = TransactionalMigration | OnlineMigration

/** By name; the names sort in the order of application. */
export type Migrations = Readonly<Record<string, Migration>>

function inOrder(...statements: RawBuilder<unknown>[]): TransactionalMigration {
  return {
    up: async (trx) => {
      for (const statement of statements) await statement.execute(trx)
    },
  }
}

/** Each table comes after those that it refers to. */
const baselineTables = [
  ...accountTables,
  ...userTables,
  ...auditTables,
  ...whatsAppTables,
  ...messageTables,
  ...recipientTables,
  ...countTables,
  ...webhookTables,
  ...operationTables,
]

/** The first migration, which creates the schema of commit 12e9a9b4 in an empty database. */
export const baselineName = '0032-baseline'

/**
 * Migrations run forward only, in the order of their names. A released migration is never edited. Each one must be able to
 * run while the version before serves traffic: docs/contributing/migrations.md.
 */
export const allMigrations = {
  [baselineName]: inOrder(...baselineTables.map((table) => sql.raw(table))),
  /**
   * Lets a retry of `code.send` find the code that is on its way. Written by `code.send`; null: sent by a version that
   * could not find it.
   */
  '0033-code-retries': inOrder(sql`
    alter table one_time_codes
      -- The message that carries the code.
      add column message_id text collate "C",
      -- HMAC of the request, by which a retry is recognized.
      add column request_hash bytea`),
  /**
   * Adds what decides about the endpoint of marketing templates. Meta's values are written by the health check; null:
   * not read since the upgrade, so that everything is sent as before. The setting is written by users.
   */
  '0034-marketing-endpoint': inOrder(sql`
    alter table whatsapp_accounts
      add column marketing_onboarding_status text,
      add column marketing_off_cloud_api boolean,
      add column marketing_setting text not null default 'automatic'`),
  /** Adds facts of the health check. Null: not read since the upgrade, which means no finding. */
  '0035-marketing-health': inOrder(sql`
    alter table whatsapp_account_health
      add column marketing_checked_at timestamptz,
      add column has_marketing_templates boolean`),
  /**
   * Counts the statuses of messages that the database does not have. Written when such a status arrives; null: none
   * has arrived since the upgrade.
   */
  '0036-missing-messages': inOrder(sql`
    alter table whatsapp_account_health
      add column missing_statuses bigint,
      add column missing_since timestamptz,
      add column missing_at timestamptz,
      -- When the first and the last of these messages were sent, from their IDs.
      add column missing_sent_from timestamptz,
      add column missing_sent_until timestamptz`),
  /**
   * Adds a row for each seldom job, such as dropping partitions. Written by the process that runs the job. The version
   * before runs the same jobs by its own uptime, which does no harm.
   */
  '0037-background-jobs': inOrder(sql`
    create table background_jobs (
      name text collate "C" primary key,
      -- While the job runs, the end of its lease.
      due_at timestamptz not null,
      started_at timestamptz not null,
      finished_at timestamptz
    )`),
  /**
   * Adds the names under which WhatsApp knows a recipient: spellings of the number, and user IDs. Written by callbacks
   * and sends; deleted by housekeeping and erasure. Each row leads from a name to the person, so that a decision under
   * one name covers the others.
   */
  '0038-recipient-identities': inOrder(
    sql`
    create table recipient_identities (
      account_id text collate "C" not null references accounts on delete cascade,
      -- A number in the form in which numbers are compared, or a user ID.
      identity text collate "C" not null,
      -- The identity that stands for the person, as in suppressions.number_key: that of a number if one is known.
      person text collate "C" not null,
      -- A number as its sender wrote it; null for a user ID.
      number text collate "C",
      -- The WhatsApp Business Account that reported a user ID, which belongs to one portfolio.
      waba_id text collate "C",
      seen_at timestamptz not null,
      primary key (account_id, identity)
    )`,
    sql`create index recipient_identities_person on recipient_identities (account_id, person)`,
    sql`create index recipient_identities_seen_at on recipient_identities (seen_at)`,
  ),
  /**
   * Adds how WhatsApp names the recipient of a message. Written by statuses and by WhatsApp's response to a send;
   * null: not known, or the number is spelled as in `to_number`.
   */
  '0039-message-recipients': inOrder(
    sql`alter table messages add column wa_id text collate "C", add column user_id text collate "C"`,
  ),
  /** Whether `/mcp` serves an account. Written by the dashboard and the command line; false: never switched on. */
  '0040-mcp': inOrder(sql`alter table accounts add column mcp_enabled boolean not null default false`),
  /**
   * Adds how many entries the suppression list of an account has, for its quota. Written when users add or remove
   * entries, and counted again at least every hour, because opt-outs of recipients and the version before do not write
   * it.
   */
  '0041-suppression-usage': inOrder(sql`
    create table suppression_usage (
      account_id text collate "C" primary key references accounts on delete cascade,
      entries bigint not null,
      counted_at timestamptz not null
    )`),
  /**
   * Adds how many requests of an account were logged in the current minute, by all processes. Written with each batch
   * of the request log. Unlogged: counts need not survive a crash.
   */
  '0042-request-log-limits': inOrder(sql`
    create unlogged table request_log_limits (
      account_id text collate "C" primary key,
      window_started_at timestamptz not null,
      requests integer not null,
      -- Failures whose bodies were logged.
      bodies integer not null
    ) with (fillfactor = 50)`),
  /**
   * Adds the category that WhatsApp has announced for a template. Written by callbacks and syncs; null: it keeps its
   * category. The index covers the templates whose announcement, or its end, was not reported yet.
   */
  '0043-upcoming-categories': inOrder(
    sql`
    alter table templates
      add column upcoming_category text,
      -- Null if WhatsApp did not say it: only callbacks name the time.
      add column category_changes_at timestamptz,
      -- When a callback announced it. The list of templates can lag behind.
      add column upcoming_reported_at timestamptz,
      -- The category that webhooks and alerts last reported as upcoming; null: none.
      add column announced_upcoming text,
      -- What the template cost in the last 30 days, and would have cost, when it was reported.
      add column upcoming_cost jsonb`,
    sql`
    create index templates_upcoming on templates (account_id)
    where announced_upcoming is distinct from upcoming_category`,
    sql`
    alter table whatsapp_account_health
      -- Of the WABA, for the finding.
      add column upcoming_categories jsonb not null default '[]'`,
  ),
  /**
   * Adds the fact behind the sentence of an audit log entry, as JSON text. It is hashed, so the entry says by which
   * version of the hash; the version before writes entries of version 1, which have no fact.
   */
  '0044-audit-facts': inOrder(sql`
    alter table audit_entries
      add column fact text,
      add column hash_version smallint not null default 1`),
  /**
   * Adds the business portfolio of a WhatsApp account, what WhatsApp reported about it, and how many people its
   * portfolio has addressed in 24 hours. The version before reads and writes none of it.
   */
  '0045-portfolios': inOrder(
    // Written by checks; null: not known yet.
    sql`alter table whatsapp_accounts add column portfolio_id text`,
    // Finds the accounts of a callback whose entry is a portfolio.
    sql`create index whatsapp_accounts_portfolio on whatsapp_accounts (portfolio_id)`,
    sql`
    alter table whatsapp_account_health
      -- Restrictions, warnings and alerts of WhatsApp, the latest of each kind. Written by callbacks.
      add column notices jsonb not null default '[]',
      -- The notices that members were alerted about.
      add column announced_notices text[] not null default '{}',
      -- People addressed in the last 24 hours, of the whole portfolio. Written by a job.
      add column reach jsonb,
      add column next_reach_at timestamptz not null default now()`,
  ),
  /**
   * Indexes the replies among the events, by which people are found whose customer service window is open. Replies are
   * few among the events, so the index is small, and other events do not write to it.
   */
  '0046-replied-events': {
    run: (db) =>
      createIndexOnline(db, {
        name: 'events_replied',
        table: 'events',
        definition: "(account_id, id) include (message_id) where type = 'message.replied'",
      }),
  },
  /**
   * Adds whether a number is also used in the WhatsApp Business app. Written by checks; null: not known. The version
   * before does not read it.
   */
  '0047-business-app': inOrder(sql`alter table whatsapp_account_health add column on_business_app boolean`),
  /**
   * Adds the facts behind the sentences of an alert, as JSON text, in which the erasure of a recipient finds numbers.
   * Alerts of the version before have none.
   */
  '0048-alert-facts': inOrder(sql`alter table alerts add column facts text`),
  /**
   * Adds when WhatsApp last reported a conversation that another app answers, written by callbacks, and whether a
   * business account has a payment method, written by checks. Null: never, or not known. The version before reads
   * neither.
   */
  '0049-standby-and-payment': inOrder(sql`
    alter table whatsapp_account_health
      add column last_standby_at timestamptz,
      add column has_payment_method boolean`),
  /**
   * Adds whether sends name the messaging account that pays. The version before reads it nowhere, and names none.
   */
  '0050-messaging-account': inOrder(sql`
    alter table whatsapp_accounts
      -- 'omit', or 'send'
      add column messaging_account_setting text not null default 'omit'`),
  /**
   * Adds the facts behind the sentences of two problems, as JSON text. The version before writes and reads the
   * sentences alone.
   */
  '0051-health-advice': inOrder(sql`
    alter table whatsapp_account_health
      add column subscription_advice text,
      add column callback_advice text`),
  /**
   * Adds the facts behind why a WhatsApp account is inactive, and behind two problems of its token, as JSON text. The
   * version before writes and reads the sentences alone.
   */
  '0052-account-facts': inOrder(
    sql`alter table whatsapp_accounts add column inactive_fact text`,
    sql`
    alter table whatsapp_account_health
      add column token_problem_fact text,
      add column token_refresh_problem_fact text`,
  ),
  /**
   * Adds who put a recipient on the suppression list, as in the audit log. Written with entries of users; null: the
   * recipient or WhatsApp decided, or the entry is from before the upgrade. The version before does not read it.
   */
  '0053-suppression-added-by': inOrder(sql`alter table suppressions add column added_by text`),
  /**
   * Adds when WhatsApp last disabled or reinstated the WABA of a WhatsApp account, by the time of its callback. Null:
   * never since the upgrade, or reported to the version before, which does not write it.
   */
  '0054-activity-reports': inOrder(sql`alter table whatsapp_accounts add column activity_reported_at timestamptz`),
  /**
   * Adds the callback URL of a number or its WABA, which replaces that of the app for messages. Written by checks;
   * null: there is none, or no check since the upgrade. The version before does not read it.
   */
  '0055-callback-override': inOrder(sql`alter table whatsapp_account_health add column callback_override text`),
} satisfies Migrations
