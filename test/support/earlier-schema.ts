import { noteChanges } from '../../src/platform/db/migrations/0024-count-buckets.ts'

const countedBefore = 'status, accepted, error_code, delivery_seconds, whatsapp_account_id, template_name, country'

/** Adds up the counts that differ in their pricing alone. */
function undoPricingOf(table: string, time: string): string[] {
  const key = `account_id, ${time}, ${countedBefore}`
  return [
    `create table merged as select ${key}, sum(count)::integer as count from ${table} group by ${key}`,
    `truncate ${table}`,
    // Drops the primary key too.
    `alter table ${table} drop column pricing`,
    `alter table ${table} add constraint ${table}_pkey primary key (${key})`,
    `insert into ${table} (${key}, count) select ${key}, count from merged`,
    'drop table merged',
  ]
}

/** Reverts migration 0032. */
const undoStatusAlerts = [
  'alter table alert_settings drop column no_status_min_messages',
  `delete from waybill_migrations where name = '0032-status-alerts'`,
]

/** Reverts migrations 0031 and later. */
const undoFailureRateMinimum = [
  ...undoStatusAlerts,
  'alter table alert_settings drop column failure_rate_min_messages',
  `delete from waybill_migrations where name = '0031-failure-rate-minimum'`,
]

/** Reverts migrations 0030 and later. */
const undoAllMessages = [
  ...undoFailureRateMinimum,
  'drop index suppressions_all_messages',
  'alter table suppressions drop column all_messages',
  `delete from waybill_migrations where name = '0030-all-messages'`,
]

/** Reverts migrations 0029 and later. */
const undoMessageContents = [
  ...undoAllMessages,
  'drop table message_contents',
  'alter table accounts drop column contents_kept_days, drop column contents_since',
  `delete from waybill_migrations where name = '0029-message-contents'`,
]

/** Reverts migration 0028. */
const undoTraceContext = [
  'alter table events drop column traceparent',
  `delete from waybill_migrations where name = '0028-trace-context'`,
]

/** Reverts migrations 0027 and later. */
export const undoPricing = [
  ...undoMessageContents,
  ...undoTraceContext,
  'drop table rates, rate_cards',
  ...undoPricingOf('message_count_buckets', 'start'),
  ...undoPricingOf('message_counts', 'day'),
  'alter table message_count_deltas drop column pricing',
  noteChanges('-infinity'),
  'alter table messages drop column pricing',
  `delete from waybill_migrations where name = '0027-pricing'`,
]

/** Reverts migration 0026. */
const undoOperators = [
  'drop table operator_views, operators, server_processes',
  'alter table owner_sessions drop column "secondFactor"',
  'alter table accounts drop column suspended_at',
  `delete from waybill_migrations where name = '0026-operators'`,
]

/** Reverts migration 0025. */
const undoAttemptCounts = [
  'drop table webhook_attempt_counts',
  `delete from waybill_migrations where name = '0025-attempt-counts'`,
]

/** Reverts migrations 0024 and later. */
export const undoCountBuckets = [
  ...undoPricing,
  ...undoOperators,
  ...undoAttemptCounts,
  'alter table accounts drop column time_zone',
  `create table merged_counts as
    select account_id, day, status, accepted, error_code, delivery_seconds, sum(count)::integer as count
    from (
      select account_id, day, status, accepted, error_code, delivery_seconds, count from message_counts
      union all
      select account_id, (start at time zone 'UTC')::date, status, accepted, error_code, delivery_seconds, count
      from message_count_buckets
      union all
      select account_id, (start at time zone 'UTC')::date, status, accepted, error_code, delivery_seconds, count
      from message_count_deltas
    ) counts
    group by 1, 2, 3, 4, 5, 6
    having sum(count) <> 0`,
  'truncate message_counts',
  'drop table message_counts_start, message_count_buckets, message_count_templates, message_count_deltas',
  // Drops the primary key too.
  'alter table message_counts drop column whatsapp_account_id, drop column template_name, drop column country',
  'alter table message_counts add primary key (account_id, day, status, accepted, error_code, delivery_seconds)',
  'insert into message_counts select * from merged_counts',
  'drop table merged_counts',
  'create table message_count_deltas (like message_counts)',
  'create index message_count_deltas_account on message_count_deltas (account_id, day)',
  `create or replace function note_message_counts() returns trigger language plpgsql as $$
    begin
      insert into message_count_deltas (account_id, day, status, accepted, error_code, delivery_seconds, count)
      select account_id, (created_at at time zone 'UTC')::date, status, wa_message_id is not null, coalesce(error_code, ''),
        coalesce(
          ('{0,1,2,5,10,30,60,300,1800,3600,21600,86400}'::integer[])[1 + width_bucket(
            delivered_at - sent_at, '{1 s,2 s,5 s,10 s,30 s,1 min,5 min,30 min,1 h,6 h,1 day}'::interval[]
          )], -1
        ), sum(change)
      from (select *, 1 as change from after union all select *, -1 from before) message
      where status <> 'pending'
      group by 1, 2, 3, 4, 5, 6
      having sum(change) <> 0;
      return null;
    end $$`,
  `delete from waybill_migrations where name = '0024-count-buckets'`,
]

/** Reverts migration 0023. */
const undoSavedViews = ['drop table saved_views', `delete from waybill_migrations where name = '0023-saved-views'`]

/** Reverts migration 0022. */
const undoAlertRecipients = [
  'alter table owner_roles drop column alert_emails',
  'alter table whatsapp_account_health drop column inactive_since, drop column findings_since',
  `delete from waybill_migrations where name = '0022-alert-recipients'`,
]

/** Reverts migration 0021. */
const undoApiRequests = [
  'drop table api_requests, api_request_cutoffs',
  `delete from waybill_migrations where name = '0021-api-requests'`,
]

/** Reverts migration 0020. */
const undoEndpointLimits = [
  'drop index webhook_deliveries_queue',
  'create index webhook_deliveries_queue on webhook_deliveries (endpoint_id, due_at)',
  'alter table webhook_deliveries drop column claimed',
  'alter table webhook_endpoints drop column max_per_second, drop column max_concurrent, drop column paced_until',
  `delete from waybill_migrations where name = '0020-endpoint-limits'`,
]

/** Reverts migration 0019. */
const undoAlertChannels = [
  'drop table alert_settings, alerts, chat_posts, recipient_hash_keys',
  `alter table whatsapp_account_health drop column token_refresh_due_at, drop column token_refreshed_at,
    drop column token_refresh_problem`,
  `delete from waybill_migrations where name = '0019-alert-channels'`,
]

/** Reverts migrations 0018 and later. */
const undoPeople = [
  ...undoCountBuckets,
  ...undoSavedViews,
  ...undoAlertRecipients,
  ...undoApiRequests,
  ...undoEndpointLimits,
  ...undoAlertChannels,
  'drop table emails',
  'alter table owner_sessions drop column "lastSeenAt", drop column "lastSeenAddress"',
  'alter table owner_invitations drop column invited_by, drop column proves_email',
  `delete from waybill_migrations where name = '0018-people'`,
]

/** Reverts migrations 0017 and later. */
const undoAlerts = [
  ...undoPeople,
  'alter table whatsapp_account_health drop column traffic, drop column next_traffic_at, drop column announced_quality',
  'alter table webhook_endpoints drop column announced_failing',
  `delete from waybill_migrations where name = '0017-alerts'`,
]

/** Reverts migrations 0016 and later. */
const undoTemplateMaking = [
  ...undoAlerts,
  'alter table accounts drop column template_changes_enabled',
  'drop index templates_unannounced',
  'alter table templates drop column announced_status, drop column announced_category, drop column edited_at',
  `delete from waybill_migrations where name = '0016-template-making'`,
]

/** Reverts migrations 0015 and later. */
const undoCodes = [
  ...undoTemplateMaking,
  'drop table one_time_codes, one_time_code_limits',
  `delete from waybill_migrations where name = '0015-codes'`,
]

/** Reverts migrations 0014 and later. */
const undoReplies = [
  ...undoCodes,
  'drop table seen_replies, suppressions, suppression_settings',
  `delete from waybill_migrations where name = '0014-replies'`,
]

/** Reverts migrations 0013 and later. */
const undoMedia = [
  ...undoReplies,
  'drop table media, media_usage, media_at_whatsapp, removed_media',
  'drop function note_removed_media',
  `delete from waybill_migrations where name = '0013-media'`,
]

/** Reverts migrations 0012 and later. */
const undoWhatsAppHealth = [
  ...undoMedia,
  'drop table whatsapp_account_health',
  `delete from waybill_migrations where name = '0012-whatsapp-health'`,
]

/** Reverts migrations 0011 and later. */
export const undoAuditChain = [
  ...undoWhatsAppHealth,
  'drop table audit_entries, audit_chains, audit_keys',
  'alter table audit_log_unchained rename to audit_log',
  `delete from waybill_migrations where name = '0011-audit-chain'`,
]

/** Reverts migrations 0010 and later. */
export const undoClocks = [
  ...undoAuditChain,
  'drop table event_clocks, database_clock',
  `delete from waybill_migrations where name = '0010-clocks'`,
]

/** Reverts migrations 0009 and later. */
const undoOutcomeUnknown = [
  ...undoClocks,
  'alter table overdue_messages drop column reported_at',
  `delete from waybill_migrations where name = '0009-outcome-unknown'`,
]

/** Reverts migrations 0008 and later. */
export const undoSwitchedOff = [
  ...undoOutcomeUnknown,
  'alter table whatsapp_accounts drop column active',
  'alter table whatsapp_accounts add column active boolean not null default true',
  'update whatsapp_accounts set active = false where switched_off or inactive_reason is not null',
  `update whatsapp_accounts set inactive_reason = 'switched off by its owner' where switched_off`,
  'alter table whatsapp_accounts drop column switched_off',
  `delete from waybill_migrations where name = '0008-switched-off'`,
]

/** Reverts migrations 0007 and later. */
export const undoNarrowKeys = [
  ...undoSwitchedOff,
  'drop index messages_to_number, messages_external_id, events_message, webhook_finished_deliveries_event, webhook_attempts_delivery',
  'alter table messages alter column to_number type text, alter column external_id type text',
  'create index messages_external_id on messages (account_id, external_id, id) where external_id is not null',
  'create index messages_to_number on messages (account_id, to_number, id)',
  'create index events_message on events (account_id, message_id)',
  'create index webhook_finished_deliveries_event on webhook_finished_deliveries (account_id, endpoint_id, event_id)',
  'create index webhook_attempts_delivery on webhook_attempts (account_id, delivery_id)',
  `delete from waybill_migrations where name = '0007-narrow-keys'`,
]

/** Reverts migrations 0006 and later. */
export const undoHotUpdates = [
  ...undoNarrowKeys,
  'drop table overdue_messages, overdue_progress, wa_message_ids',
  'alter table messages drop column recorded_at',
  `create index messages_pending on messages (created_at) where status = 'pending'`,
  'create index messages_wa_message_id on messages (account_id, wa_message_id) where wa_message_id is not null',
  `delete from waybill_migrations where name = '0006-hot-updates'`,
]
