import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { numberColumns } from '../../../src/platform/db/number-columns.ts'
import { forFile } from '../../support/lifetime.ts'
import { openTestDatabase } from '../../support/database.ts'

const database = await forFile(openTestDatabase())

/** Every column that can hold a text, except those of partitions. */
async function readTextColumns(): Promise<Set<string>> {
  const { rows } = await sql<{ name: string }>`
    select c.relname || '.' || a.attname as name
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    join pg_type t on t.oid = a.atttypid
    left join pg_type item on item.oid = t.typelem and t.typcategory = 'A'
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname not like 'waybill\_migrations%'
      and coalesce(item.typname, t.typname) in ('text', 'varchar', 'bpchar', 'json', 'jsonb', 'bytea', 'xml')`.execute(
    database.db,
  )
  return new Set(rows.map(({ name }) => name))
}

/** Why the other columns cannot contain a number. */
const columnsWithoutNumber: Record<string, string> = {
  'an ID that Waybill generated': `
    messages.account_id messages.id messages.whatsapp_account_id message_contents.account_id message_contents.message_id
    wa_message_ids.account_id wa_message_ids.message_id overdue_messages.account_id overdue_messages.id
    message_counts.account_id message_counts.whatsapp_account_id message_count_buckets.account_id
    message_count_buckets.whatsapp_account_id message_count_deltas.account_id message_count_deltas.whatsapp_account_id
    message_count_templates.account_id idempotency_keys.account_id idempotency_keys.message_id seen_replies.account_id
    recipient_identities.account_id suppressions.account_id suppressions.id suppressions.whatsapp_account_id
    suppression_settings.account_id one_time_codes.account_id one_time_codes.id one_time_codes.message_id
    one_time_code_limits.account_id events.account_id events.id events.message_id event_clocks.account_id
    webhook_endpoints.id webhook_endpoints.account_id webhook_deliveries.account_id webhook_deliveries.id
    webhook_deliveries.endpoint_id webhook_deliveries.event_id webhook_finished_deliveries.account_id
    webhook_finished_deliveries.id webhook_finished_deliveries.endpoint_id webhook_finished_deliveries.event_id
    webhook_attempts.account_id webhook_attempts.delivery_id webhook_attempts.endpoint_id webhook_attempts.event_id
    webhook_attempt_counts.account_id webhook_attempt_counts.endpoint_id accounts.id api_keys.account_id
    rate_limits.account_id request_log_limits.account_id whatsapp_accounts.id whatsapp_accounts.account_id
    whatsapp_account_health.whatsapp_account_id whatsapp_account_health.account_id templates.account_id media.id
    media.account_id media_usage.account_id suppression_usage.account_id removed_media.id media_at_whatsapp.account_id
    media_at_whatsapp.claimed_by api_requests.account_id api_requests.id api_requests.message_ids saved_views.account_id
    saved_views.owner_id owners.id owner_sessions.id owner_sessions.userId owner_credentials.id owner_credentials.userId
    owner_verifications.id owner_two_factors.id owner_two_factors.userId owner_sign_in_rates.id operators.owner_id
    operator_views.session_id operator_views.account_id operator_views.owner_id server_processes.id
    owner_roles.account_id owner_roles.owner_id owner_invitations.account_id emails.id emails.account_id
    alert_settings.account_id alerts.account_id alerts.id alerts.subject_id chat_posts.id chat_posts.account_id
    recipient_hash_keys.id audit_log_unchained.account_id audit_log_unchained.id audit_entries.account_id
    audit_entries.id audit_entries.key_id audit_chains.account_id audit_chains.key_id audit_keys.id`,
  'a value that Waybill defines, such as a status': `
    messages.status messages.error_code messages.pricing message_counts.status message_counts.error_code
    message_counts.pricing message_count_buckets.status message_count_buckets.error_code message_count_buckets.pricing
    message_count_deltas.status message_count_deltas.error_code message_count_deltas.pricing suppressions.reason
    suppression_settings.categories one_time_code_limits.kind events.type webhook_endpoints.events
    webhook_endpoints.disabled_reason webhook_finished_deliveries.outcome webhook_attempt_counts.error
    whatsapp_accounts.marketing_setting whatsapp_accounts.messaging_account_setting
    whatsapp_account_health.announced_findings whatsapp_account_health.announced_notices templates.status
    templates.category templates.parameter_format templates.announced_status templates.announced_category
    templates.upcoming_category templates.announced_upcoming media.type media_at_whatsapp.type api_requests.method
    api_requests.error_code server_processes.version server_processes.role background_jobs.name owner_roles.role
    owner_invitations.role emails.kind alert_settings.chat_format alert_settings.chat_problem alerts.code
    alerts.severity audit_log_unchained.outcome audit_entries.outcome`,
  'part of a template, which is the same for all recipients': `
    messages.template_name messages.template_language message_counts.template_name message_count_buckets.template_name
    message_count_deltas.template_name message_count_templates.template_name whatsapp_account_health.upcoming_categories
    templates.name templates.language templates.components alerts.title alerts.recovery_title`,
  'encrypted; erasure decrypts it and deletes the row': 'message_contents.content_encrypted',
  'the country of a calling code': 'message_counts.country message_count_buckets.country message_count_deltas.country',
  'a hash that covers the number; it is emptied with the message of the key': 'idempotency_keys.request_hash',
  'a hash of a wamid, which has random digits beside the number': 'seen_replies.hash',
  'an ID that Meta assigned to a business': `
    recipient_identities.waba_id whatsapp_accounts.phone_number_id whatsapp_accounts.waba_id
    whatsapp_accounts.portfolio_id whatsapp_account_health.app_id templates.waba_id templates.whatsapp_template_id
    media_at_whatsapp.phone_number_id media_at_whatsapp.wa_media_id`,
  'about a dashboard user, who signs in with an email address': `
    suppressions.added_by owners.name owners.email owners.image owner_sessions.token owner_sessions.ipAddress
    owner_sessions.userAgent owner_sessions.lastSeenAddress owner_credentials.accountId owner_credentials.providerId
    owner_credentials.accessToken owner_credentials.refreshToken owner_credentials.idToken owner_credentials.scope
    owner_verifications.identifier owner_verifications.value owner_invitations.email owner_invitations.invited_by
    emails.recipient alerts.acknowledged_by`,
  'a hash of something other than a number': `
    one_time_codes.mac api_keys.key_hash owner_credentials.password owner_tries.key owner_invitations.token_hash
    audit_entries.hash audit_entries.mac audit_chains.hash audit_chains.expired_hash audit_chains.mac`,
  'an HMAC that covers the number; it is deleted with the row': 'one_time_codes.request_hash',
  "an HMAC under the server's key, deleted after an hour": 'one_time_code_limits.subject',
  'IDs of a trace': 'events.traceparent',
  'a setting of the account': `
    webhook_endpoints.url accounts.name accounts.allow_list accounts.time_zone whatsapp_account_health.callback_url
    whatsapp_account_health.callback_override rate_cards.currency rates.country rates.category rates.market
    alert_settings.quiet_time_zone alert_settings.quiet_from alert_settings.quiet_until`,
  'encrypted, and holds no recipient': `
    webhook_endpoints.headers_encrypted webhook_endpoints.secret_encrypted webhook_endpoints.previous_secret_encrypted
    whatsapp_accounts.access_token_encrypted whatsapp_accounts.app_secret_encrypted owner_two_factors.secret
    owner_two_factors.backupCodes owner_auth_secret.secret_encrypted emails.content_encrypted
    alert_settings.chat_url_encrypted chat_posts.content_encrypted recipient_hash_keys.key_encrypted
    audit_keys.key_encrypted`,
  'the first characters of an API key': 'api_keys.start api_requests.key_start',
  "Meta's text about a business number": `
    whatsapp_accounts.quality_rating whatsapp_accounts.throughput_level whatsapp_accounts.verified_name
    whatsapp_accounts.marketing_onboarding_status whatsapp_account_health.token_problem
    whatsapp_account_health.token_problem_fact whatsapp_account_health.missing_permissions
    whatsapp_account_health.number_status whatsapp_account_health.name_status whatsapp_account_health.messaging_limit
    whatsapp_account_health.health whatsapp_account_health.announced_quality
    whatsapp_account_health.subscription_problem whatsapp_account_health.subscription_advice
    whatsapp_account_health.callback_fields whatsapp_account_health.callback_problem
    whatsapp_account_health.callback_advice whatsapp_account_health.token_refresh_problem
    whatsapp_account_health.token_refresh_problem_fact whatsapp_account_health.notices templates.quality_score
    templates.rejected_reason`,
  'the number of the business, not of a recipient': 'whatsapp_accounts.display_phone_number',
  'numbers of messages and their error codes': 'whatsapp_account_health.traffic',
  'codes of findings with their times': 'whatsapp_account_health.findings_since',
  'numbers of people': 'whatsapp_account_health.reach',
  'numbers of messages and amounts': 'templates.upcoming_cost',
  'a hash of a file': 'media.sha256 media_at_whatsapp.sha256',
  'the IP address of a server that calls the API': 'api_requests.address',
  'an IP address and a path': 'owner_sign_in_rates.key',
  'about the server itself': 'server_processes.host server_processes.jobs',
  'written by Waybill, which names no recipient; the hash chain proves it unchanged': `
    audit_log_unchained.who audit_log_unchained.what audit_log_unchained.address audit_entries.who audit_entries.what
    audit_entries.fact audit_entries.address`,
}

test('decides for each column with text whether it can contain the number of a recipient', async () => {
  const stored = await readTextColumns()
  const withNumber = Object.entries(numberColumns).flatMap(([table, columns]) =>
    Object.keys(columns).map((column) => `${table}.${column}`),
  )
  const listed = [...withNumber, ...Object.values(columnsWithoutNumber).flatMap((names) => names.trim().split(/\s+/))]

  // Add a new column that can contain a number to src/platform/db/number-columns.ts, so that `waybill recipient erase`
  // finds it, and any other column to the list above.
  expect([...stored].filter((name) => !listed.includes(name))).toEqual([])
  expect(listed.filter((name) => !stored.has(name))).toEqual([])
  expect(listed.filter((name, index) => listed.indexOf(name) !== index)).toEqual([])
})

test('finds the account of each row with a number', async () => {
  const stored = await readTextColumns()

  expect(Object.keys(numberColumns).filter((table) => !stored.has(`${table}.account_id`))).toEqual([])
})
