import type { ColumnType, Generated, GeneratedAlways } from 'kysely'
import type { MarketingSetting, MessagingAccountSetting } from '../../../contracts/api/account.ts'
import type { MessageStatus } from '../../../contracts/api/message.ts'
import type { CategoryCost } from '../../../contracts/pricing.ts'
import type { SuppressionReason } from '../../../contracts/api/suppression.ts'
import type { Role } from '../../../contracts/procedure.ts'

/** JSON is written as text and read as a value, because `pg` would convert an array to a PostgreSQL array. */
type Json<T> = ColumnType<T, string, string>

/** A template whose category will change. */
export interface UpcomingCategory {
  template: string
  language: string
  category: string
  /** ISO 8601; null if WhatsApp did not say it. */
  takesEffectAt: string | null
}

/** The latest report of WhatsApp about one problem of an account. Times are ISO 8601. */
export interface StoredNotice {
  /** Identifies the problem: later reports about it replace earlier ones. */
  key: string
  kind: 'restriction' | 'warning' | 'alert'
  /** What WhatsApp calls it, such as `UTILITY_TEMPLATE_ABUSE`. */
  type: string
  /** In WhatsApp's words. */
  description?: string
  restrictions: { type: string; until?: string }[]
  at: string
  /** When it ends by itself. It is reported no longer than that. */
  until: string
  /** Whether WhatsApp reported its end. */
  isOver: boolean
}

/** How many people the numbers of a business portfolio addressed in 24 hours. */
export interface StoredReach {
  people: number
  /** Of them, those addressed by this number. */
  byNumber: number
  /** False if there were too many messages to count all of them, so that there are more people. */
  isComplete: boolean
  countedAt: string
}

export interface StoredTraffic {
  sent: number
  failed: number
  /** Error codes with their counts, most frequent first. */
  failures: { code: string; count: number }[]
  /** When WhatsApp accepted the newest message that should have a status by now and has none. */
  lastAcceptedAt?: string
  /** Messages that WhatsApp accepted since its last status, long enough ago to have one; absent if there are none. */
  withoutStatus?: { count: number; since: string }
}

export interface StoredHealthEntity {
  entity: string
  canSend: string
  reasons: { description: string; solution?: string; code?: number }[]
}

/**
 * A template component as the Graph API returns it. Only the fields that are read are typed; the others are stored too.
 */
export interface StoredComponent {
  type: string
  format?: string
  text?: string
  buttons?: { type: string; text?: string; url?: string; [key: string]: unknown }[]
  example?: {
    body_text?: string[][]
    body_text_named_params?: { param_name: string; example: string }[]
    [key: string]: unknown
  }
  /** Of a carousel. */
  cards?: { components: StoredComponent[]; [key: string]: unknown }[]
  [key: string]: unknown
}

/** The state by which messages are counted, maintained by the trigger of `messages` (message-counts.ts). */
interface CountedStateColumns {
  account_id: string
  status: MessageStatus
  accepted: boolean
  error_code: string
  delivery_seconds: number
  /** Empty, like the template and the country, if an earlier version counted the messages. */
  whatsapp_account_id: Generated<string>
  template_name: Generated<string>
  country: Generated<string>
  /** Of delivered messages, `pricing` of the message; empty if it is null. */
  pricing: Generated<string>
  count: number
}

interface MessageCountsTable extends CountedStateColumns {
  /** The UTC date of `created_at`, for example `2026-11-20`. */
  day: ColumnType<Date, string, string>
}

interface MessageCountBucketsTable extends CountedStateColumns {
  /** The quarter of an hour of `created_at`. */
  start: Date
}

export type AuditOutcome = 'started' | 'done' | 'refused'

export interface Database {
  accounts: {
    id: string
    name: string
    api_enabled: Generated<boolean>
    rate_limit_per_minute: Generated<number>
    /** Addresses and CIDR ranges in canonical form. If empty, every address may call. */
    allow_list: Generated<string[]>
    /** Whether the API key may change templates. */
    template_changes_enabled: Generated<boolean>
    /** Whether `/mcp` serves the account. */
    mcp_enabled: Generated<boolean>
    /** IANA time zone of the days in the overview. */
    time_zone: Generated<string>
    /** When an operator suspended the account; null if it is not suspended. */
    suspended_at: ColumnType<Date | null, Date | null | undefined>
    /** For how many days the contents of messages are stored; null if they are not stored. */
    contents_kept_days: number | null
    /** When the account began to store contents; null if it does not. */
    contents_since: Date | null
    created_at: Generated<Date>
  }
  /** One key per account. Only its SHA-256 hash is stored. */
  api_keys: {
    account_id: string
    key_hash: Uint8Array
    /** The first characters, which identify the key for its owner. */
    start: string
    created_at: Generated<Date>
  }
  /** Requests of an account that all processes logged in the current minute. */
  request_log_limits: {
    account_id: string
    window_started_at: Date
    requests: number
    bodies: number
  }
  /** Requests counted in the current minute. The table is unlogged: after a crash every account starts a new minute. */
  rate_limits: {
    account_id: string
    window_started_at: Date
    used: number
  }
  whatsapp_accounts: {
    id: string
    account_id: string
    phone_number_id: string
    waba_id: string
    access_token_encrypted: string
    app_secret_encrypted: string | null
    is_default: boolean
    /** True if a user deactivated the account. */
    switched_off: Generated<boolean>
    /** Why WhatsApp rejects the account; null if it does not. */
    inactive_reason: string | null
    /** What `inactive_reason` says, as `toFactColumn` writes it. */
    inactive_fact: Generated<string | null>
    /** When WhatsApp last disabled or reinstated its WABA; null if not known. */
    activity_reported_at: Generated<Date | null>
    /** True if neither a user nor WhatsApp has disabled the account. */
    active: GeneratedAlways<boolean>
    /** As WhatsApp reports them (reference, section 5); null until the first sync. */
    quality_rating: Generated<string | null>
    throughput_level: Generated<string | null>
    display_phone_number: Generated<string | null>
    verified_name: Generated<string | null>
    /** When the templates of its WABA were last listed successfully, even if there were none. */
    templates_synced_at: Generated<Date | null>
    /** The business portfolio of its WABA; null if not known. */
    portfolio_id: Generated<string | null>
    /** `marketing_messages_onboarding_status` of its WABA; null if not known. */
    marketing_onboarding_status: Generated<string | null>
    /** Whether `/messages` of its WABA accepts no marketing templates; null if not known. */
    marketing_off_cloud_api: Generated<boolean | null>
    /** `automatic`, or `cloud_api` to never use the endpoint for marketing messages. */
    marketing_setting: Generated<MarketingSetting>
    /** `send` to name its WABA in every send as the messaging account that pays. */
    messaging_account_setting: Generated<MessagingAccountSetting>
    /** Time of the next sync of templates and numbers. */
    next_sync_at: Generated<Date>
    created_at: Generated<Date>
  }
  /** Facts about the connection of a WhatsApp account. Times say when each group of facts was checked last. */
  whatsapp_account_health: {
    whatsapp_account_id: string
    account_id: string
    /** The Meta app of the token. */
    app_id: string | null
    token_checked_at: Date | null
    token_expires_at: Date | null
    /** Why WhatsApp rejects the token; null if it does not. */
    token_problem: string | null
    token_problem_fact: string | null
    missing_permissions: Generated<string[]>
    number_checked_at: Date | null
    number_status: string | null
    name_status: string | null
    messaging_limit: string | null
    /** Whether the number is also used in the WhatsApp Business app; null if not known. */
    on_business_app: boolean | null
    /** `health_status` as the Graph API reports it (reference 2, section 5.5). */
    health: ColumnType<StoredHealthEntity[], string | undefined, string>
    subscription_checked_at: Date | null
    subscribed: boolean | null
    subscription_problem: string | null
    /** What `subscription_problem` says, as `toAdviceColumns` writes it. */
    subscription_advice: string | null
    callback_checked_at: Date | null
    callback_url: string | null
    callback_fields: Generated<string[]>
    callback_problem: string | null
    callback_advice: string | null
    /** When the facts of the WABA about marketing messages were read last, which are columns of the account. */
    marketing_checked_at: Date | null
    has_marketing_templates: boolean | null
    /** Whether WhatsApp names a payment method of the WABA; null if not known. */
    has_payment_method: boolean | null
    /** The callback URL of the number or its WABA, which replaces `callback_url` for messages; null if none is known. */
    callback_override: string | null
    /** The templates of its WABA whose category will change. */
    upcoming_categories: ColumnType<UpcomingCategory[], string | undefined, string>
    /** What WhatsApp reported about the account, the latest report of each kind. */
    notices: ColumnType<StoredNotice[], string | undefined, string>
    /** The notices that members were alerted about, as `noticeId` names them. */
    announced_notices: Generated<string[]>
    /** People addressed in the last 24 hours; null if they were not counted, for example because there is no limit. */
    reach: ColumnType<StoredReach | null, string | undefined, string>
    next_reach_at: Generated<Date>
    last_callback_at: Date | null
    last_status_at: Date | null
    /** When the last callback about a conversation arrived that another app answers. */
    last_standby_at: Date | null
    next_check_at: Generated<Date>
    announced_active: Generated<boolean>
    /** When it was announced as inactive; null while it is active. */
    inactive_since: Date | null
    announced_findings: Generated<string[]>
    /** When each announced finding was first found. */
    findings_since: ColumnType<Record<string, string>, string | undefined, string>
    /** Days before the expiry of the token that were announced last: 14, 7, 1 or 0. */
    announced_expiry_days: number | null
    /** The messages of the last hour at the latest measurement; null if there was none. */
    traffic: ColumnType<StoredTraffic | null, string | undefined, string>
    next_traffic_at: Generated<Date>
    announced_quality: string | null
    /** When the token is next refreshed at Meta; null if it never was. */
    token_refresh_due_at: Date | null
    token_refreshed_at: Date | null
    /** Why the last refresh failed; null if it did not. */
    token_refresh_problem: string | null
    token_refresh_problem_fact: string | null
    /** Statuses of messages that the database does not have; null if there were none. `pg` returns a bigint as text. */
    missing_statuses: string | null
    missing_since: Date | null
    missing_at: Date | null
    /** When the first and the last of these messages were sent. */
    missing_sent_from: Date | null
    missing_sent_until: Date | null
  }
  /** Identified by WABA, name and language (reference, section 3.1). */
  templates: {
    account_id: string
    waba_id: string
    name: string
    language: string
    /** WhatsApp's template ID, stored as text because it can exceed 2^53. */
    whatsapp_template_id: string
    status: string
    category: string | null
    parameter_format: string
    components: Json<StoredComponent[]>
    quality_score: string | null
    rejected_reason: string | null
    /** The value that webhooks last reported; null if none was reported. */
    announced_status: Generated<string | null>
    announced_category: Generated<string | null>
    /** The category that WhatsApp will give it; null if it keeps its category. */
    upcoming_category: Generated<string | null>
    /** Null if WhatsApp did not say it. */
    category_changes_at: Generated<Date | null>
    /** When a callback announced the category; null if only a sync found it. */
    upcoming_reported_at: Generated<Date | null>
    /** The upcoming category that webhooks last reported; null: none. */
    announced_upcoming: Generated<string | null>
    upcoming_cost: ColumnType<CategoryCost | null, string | undefined, string | null>
    /** When it was edited while approved, in the last 30 days. */
    edited_at: Generated<Date[]>
    synced_at: Date
  }
  messages: {
    account_id: string
    id: string
    whatsapp_account_id: string
    status: MessageStatus
    to_number: string
    template_name: string
    template_language: string
    external_id: string | null
    wa_message_id: string | null
    created_at: Date
    sent_at: Date | null
    delivered_at: Date | null
    read_at: Date | null
    failed_at: Date | null
    error_code: string | null
    error_message: string | null
    /** What WhatsApp charges, such as `utility` or `utility/free_entry_point`; null if no status reported it. */
    pricing: string | null
    /** Time by the database clock. */
    recorded_at: Generated<Date>
    /** The recipient's number as WhatsApp writes it, if it differs from `to_number`. */
    wa_id: string | null
    /** The recipient's business-scoped user ID; null if it is not known. */
    user_id: string | null
  }
  /** Finds the message of a status that does not carry our ID, by `hashtextextended` of the wamid. */
  wa_message_ids: {
    hash: string
    account_id: string
    message_id: string
  }
  /** Messages that were still pending a minute after they were recorded. */
  overdue_messages: {
    account_id: string
    id: string
    /** Time of the event that reported the outcome as unknown. */
    reported_at: Date | null
  }
  /** A single row: the time up to which messages have been checked. */
  overdue_progress: {
    only_one: Generated<boolean>
    looked_until: Date
  }
  /** Counts of days that are no longer in `message_count_buckets`. */
  message_counts: MessageCountsTable
  message_count_buckets: MessageCountBucketsTable
  /** Changes since the counts were last updated. A count can be negative. */
  message_count_deltas: MessageCountBucketsTable
  message_count_templates: {
    account_id: string
    template_name: string
  }
  /** One row. Messages recorded before it have no template, number and country in their counts. */
  message_counts_start: { at: Date }
  idempotency_keys: {
    account_id: string
    key: string
    request_hash: Uint8Array
    message_id: string
    created_at: Generated<Date>
  }
  /** Replies that were reported already. */
  seen_replies: {
    account_id: string
    /** SHA-256 of the wamid. */
    hash: Uint8Array
    received_at: Generated<Date>
  }
  /** The names under which WhatsApp knows a recipient. */
  recipient_identities: {
    account_id: string
    /** A number in the form in which numbers are compared, or a user ID. */
    identity: string
    /** The identity that stands for the person, as in `suppressions.number_key`. */
    person: string
    /** A number as its sender wrote it; null for a user ID. */
    number: string | null
    /** The WhatsApp Business Account that reported a user ID. */
    waba_id: string | null
    seen_at: Date
  }
  /** Recipients who opted out, and those who opted in again. */
  suppressions: {
    account_id: string
    /** The identity that stands for the recipient: a number in the form in which numbers are compared, or a user ID. */
    number_key: string
    /** A new one is assigned when `suppressed` changes, so that IDs sort by time. */
    id: string
    to_number: string
    suppressed: boolean
    reason: SuppressionReason
    /** The WhatsApp account that the recipient answered or that was rejected. */
    whatsapp_account_id: string | null
    since: Date
    /** Time of the latest decision; an older one changes nothing. */
    changed_at: Date
    /** Whether messages of all categories are stopped. */
    all_messages: Generated<boolean>
    /** Who added the recipient, as in the audit log; null if the recipient or WhatsApp did. */
    added_by: string | null
  }
  /** Template categories that are not sent to suppressed recipients. Accounts without a row stop MARKETING only. */
  suppression_settings: {
    account_id: string
    categories: string[]
  }
  one_time_codes: {
    account_id: string
    id: string
    to_number: string
    purpose: string
    /** HMAC of the code under the server's key. */
    mac: Uint8Array
    attempts_left: number
    created_at: Generated<Date>
    expires_at: Date
    /** The message that carries the code. */
    message_id: string | null
    /** HMAC of the request, by which a retry is recognized. */
    request_hash: Uint8Array | null
  }
  /** Uses by a recipient or an address in the current hour. */
  one_time_code_limits: {
    account_id: string
    kind: string
    /** HMAC of the number or the network. */
    subject: Uint8Array
    window_started_at: Date
    last_at: Date
    used: number
  }
  webhook_endpoints: {
    id: string
    account_id: string
    url: string
    /** Event types that are sent to this endpoint. */
    events: string[]
    description: string | null
    /** Extra request headers as encrypted JSON, since they may hold credentials; null if there are none. */
    headers_encrypted: string | null
    secret_encrypted: string
    /** The secret before the last rotation. It also signs until it expires. */
    previous_secret_encrypted: string | null
    previous_secret_expires_at: Date | null
    enabled: Generated<boolean>
    disabled_reason: string | null
    /** Time of the first of the consecutive failed attempts; null if the last attempt succeeded. */
    failing_since: Date | null
    /** Limits that the owner of the endpoint sets, over all workers; null if there is none. */
    max_per_second: number | null
    max_concurrent: number | null
    /** The time up to which earlier attempts have used up the rate limit; null before the first attempt. */
    paced_until: Date | null
    /** Whether `endpoint.failing` was sent to the other endpoints of the account. */
    announced_failing: Generated<boolean>
    created_at: Generated<Date>
  }
  /** A webhook event, recorded once for each status change. */
  events: {
    account_id: string
    id: string
    type: string
    message_id: string
    /** The webhook body, byte for byte as it is signed. */
    payload: string
    created_at: Date
    /** The trace context of what caused the event (W3C Trace Context); null while tracing is off. */
    traceparent: string | null
  }
  /** One row per account with events. A transaction that records events locks it until the commit. */
  event_clocks: {
    account_id: string
    /** The timestamp in the last ID, which may be ahead of the database clock. */
    last_milliseconds: string
    /** The largest difference by which an ID was ahead of the database clock. */
    ahead_milliseconds: Generated<string>
  }
  /** A single row. */
  database_clock: {
    only_one: Generated<boolean>
    /** The latest time that any process has recorded. */
    highest: Date
  }
  /** Deliveries that are waiting or in progress. Finished ones move to `webhook_finished_deliveries`. */
  webhook_deliveries: {
    id: string
    account_id: string
    endpoint_id: string
    event_id: string
    /** When the next attempt is due; during an attempt, when its lease ends. */
    due_at: Date
    /** Number of finished attempts. */
    attempts: number
    /** Incremented by each claim, so that a worker whose claim was taken over cannot complete the delivery. */
    generation: number
    /** Whether a worker has claimed it and not finished the attempt. Once the lease ends, the claim is void. */
    claimed: Generated<boolean>
    created_at: Date
  }
  webhook_finished_deliveries: {
    account_id: string
    id: string
    endpoint_id: string
    event_id: string
    outcome: 'delivered' | 'failed'
    attempts: number
    created_at: Date
    finished_at: Date
  }
  /** One HTTP request of a delivery. */
  webhook_attempts: {
    account_id: string
    delivery_id: string
    endpoint_id: string
    event_id: string
    /** The first attempt is 1. */
    number: number
    started_at: Date
    duration_ms: number
    /** Null if there was no response. */
    status_code: number | null
    /** Our description of the failure. */
    error: string | null
    /** The first bytes of the response. */
    response_start: string | null
  }
  /** Attempts at an endpoint in a quarter of an hour that ended in the same way. */
  webhook_attempt_counts: {
    account_id: string
    endpoint_id: string
    slot: Date
    /** 0 if there was no response. */
    status_code: number
    /** Empty if they succeeded. */
    error: string
    attempts: number
    duration_ms: string
    max_duration_ms: number
    /** When the first and the last of them were recorded. */
    first_at: Date
    last_at: Date
  }
  /** A dashboard user. better-auth reads and writes this table and determines its column names. */
  owners: {
    id: string
    name: string
    email: string
    emailVerified: boolean
    twoFactorEnabled: Generated<boolean>
  }
  /** better-auth's table; used here only to end a user's sessions. */
  owner_sessions: {
    id: string
    userId: string
    ipAddress: string | null
    userAgent: string | null
    createdAt: Date
    expiresAt: Date
    /** Recorded every few minutes. */
    lastSeenAt: Date | null
    lastSeenAddress: string | null
    /** Whether it was started with a code of an authenticator app, or a backup code. */
    secondFactor: Generated<boolean>
  }
  /** better-auth's table: links, whose identifiers are hashed, and pending sign-ins. */
  owner_verifications: {
    id: string
    identifier: string
    /** ID of the user. */
    value: string
  }
  /** better-auth's table: sign-in attempts by address. */
  owner_sign_in_rates: {
    id: string
    key: string
  }
  /** Failed passwords and codes per user, from any address. The key is a SHA-256 hash. */
  owner_tries: {
    key: Uint8Array
    count: number
    ends_at: Date
  }
  /** better-auth's table: a password (`providerId` is `credential`) or an external identity. */
  owner_credentials: {
    id: string
    userId: string
    providerId: string
    accountId: string
    password: string | null
  }
  /** better-auth's table; used here only to delete the second factor when an operator resets a user's sign-in. */
  owner_two_factors: {
    id: string
    userId: string
  }
  /** Users who may use the console. Only the command line grants it. */
  operators: {
    owner_id: string
    granted_at: Generated<Date>
  }
  /** Accounts that operators view, for a limited time. */
  operator_views: {
    session_id: string
    account_id: string
    owner_id: string
    expires_at: Date
  }
  /** Jobs that run infrequently, on one of all processes. */
  background_jobs: {
    name: string
    /** While the job runs, the end of its lease. */
    due_at: Date
    started_at: Date
    /** When it last succeeded. */
    finished_at: Date | null
  }
  /** Server processes, each of which updates its row. */
  server_processes: {
    id: string
    version: string
    role: string
    host: string
    started_at: Generated<Date>
    seen_at: Generated<Date>
    /** JSON. */
    jobs: string
  }
  owner_auth_secret: {
    only_one: Generated<boolean>
    secret_encrypted: string
  }
  owner_roles: {
    account_id: string
    owner_id: string
    role: Role
    /** Whether the member gets the alerts of the account by email. */
    alert_emails: Generated<boolean>
    created_at: Generated<Date>
  }
  /** Valid for one use. Only the SHA-256 hash of its token is stored. */
  owner_invitations: {
    token_hash: Uint8Array
    account_id: string
    email: string
    role: Role
    /** True if an operator reset the user's password: the link sets a new one. */
    sets_password: Generated<boolean>
    /** Email address of the owner who sent it in the dashboard; null for operators. */
    invited_by: Generated<string | null>
    /** False if an owner of the account has seen the link, so that its use does not prove the address. */
    proves_email: Generated<boolean>
    created_at: Generated<Date>
    expires_at: Date
  }
  /** Emails that are waiting to be sent. An email is deleted once it is sent. */
  emails: {
    id: string
    /** Null for emails about a user instead of an account. */
    account_id: string | null
    kind: string
    recipient: string
    /** Subject and texts as encrypted JSON, because they hold links. */
    content_encrypted: string
    /** Number of started attempts. */
    attempts: Generated<number>
    /** When the next attempt is due; during an attempt, when its lease ends. */
    due_at: Generated<Date>
    /** The email is not sent after this time. */
    expires_at: Date
    created_at: Generated<Date>
  }
  /** How an account receives alerts. An account without a row has the default settings. */
  alert_settings: {
    account_id: string
    chat_url_encrypted: string | null
    chat_format: string | null
    /** Why the last post failed permanently. */
    chat_problem: string | null
    chat_problem_at: Date | null
    /** Null: no alert. */
    failure_rate_percent: number | null
    failure_rate_min_messages: Generated<number>
    /** Null: no alert. */
    delivery_lag_seconds: number | null
    /** Null: no alert. */
    no_status_min_messages: Generated<number | null>
    /** The four columns of quiet hours are all set or all null. */
    quiet_time_zone: string | null
    quiet_from: string | null
    quiet_until: string | null
    quiet_except_critical: boolean | null
    /** Null: each alert is sent once. */
    repeat_hours: number | null
  }
  /** Problems for which an alert was sent, or will be sent after quiet hours. */
  alerts: {
    account_id: string
    id: string
    code: string
    /** ID of what the alert is about. */
    subject_id: string
    severity: string
    title: string
    body: string
    recovery_title: string | null
    recovery_body: string | null
    opened_at: Date
    /** When it was last sent. */
    sent_at: Date | null
    /** When it is sent next: after quiet hours, or again. */
    due_at: Date | null
    acknowledged_at: Date | null
    /** Email address of a user, or `operator`. */
    acknowledged_by: string | null
    recovered_at: Date | null
    /** What the title and the body say, as JSON; null for alerts of earlier versions. */
    facts: string | null
  }
  /** Alerts that are waiting to be posted to the chat of an account. An alert is deleted once it is posted. */
  chat_posts: {
    id: string
    account_id: string
    content_encrypted: string
    /** Number of started attempts. */
    attempts: Generated<number>
    /** When the next attempt is due; during an attempt, when its lease ends. */
    due_at: Generated<Date>
    /** The alert is not posted after this time. */
    expires_at: Date
    created_at: Generated<Date>
  }
  /** The key of the hashes under which suppressions of erased recipients are kept. */
  recipient_hash_keys: {
    id: string
    key_encrypted: string
  }
  /** Entries written by an earlier version. They move to `audit_entries` when the audit log is first used. */
  audit_log_unchained: {
    account_id: string
    id: string
    who: string
    what: string
    address: string
    outcome: Generated<AuditOutcome>
    created_at: Generated<Date>
  }
  /** The start of an audited action, its outcome, or both in one entry. Entries are only added, and expire. */
  audit_entries: {
    account_id: string
    /** The first entry of an account is 1. */
    sequence: number
    start_sequence: number | null
    /** ID of the action, shared by its start and its outcome. */
    id: string
    outcome: AuditOutcome
    /** Email address, which remains after the user is removed. */
    who: string
    /** In English. */
    what: string
    /** JSON of what it says; null if an earlier version wrote it. */
    fact: string | null
    address: string
    created_at: Date
    /** How it is hashed. */
    hash_version: Generated<number>
    key_id: string
    hash: Uint8Array
    mac: Uint8Array
  }
  /** The head of an account's audit log, and the end of its expired part. Locked while an entry is appended. */
  audit_chains: {
    account_id: string
    sequence: number
    hash: Uint8Array
    expired_sequence: number
    expired_hash: Uint8Array
    key_id: string
    mac: Uint8Array
  }
  audit_keys: {
    id: string
    key_encrypted: string
    created_at: Generated<Date>
  }
  /** An uploaded file; it is stored under its ID. */
  media: {
    id: string
    account_id: string
    /** Hexadecimal digits. */
    sha256: string
    /** Media type, determined from the content. */
    type: string
    size_bytes: number
    filename: string | null
    created_at: Date
    expires_at: Date
    /** Null while the file is being stored. */
    stored_at: Date | null
    /** Set until the file is gone from the object store too. */
    deleted_at: Date | null
  }
  /** How much an account stores. A trigger subtracts what is deleted. */
  media_usage: {
    account_id: string
    size_bytes: ColumnType<string, number, number>
  }
  /** How many entries the suppression list of an account has, for its quota. */
  suppression_usage: {
    account_id: string
    entries: ColumnType<string, number, number>
    counted_at: Date
  }
  /** A file that is in the object store although its row is gone. A trigger inserts it. */
  removed_media: {
    id: string
  }
  /** An uploaded file at WhatsApp, for one phone number. */
  media_at_whatsapp: {
    account_id: string
    phone_number_id: string
    sha256: string
    type: string
    /** Null until WhatsApp has responded. */
    wa_media_id: string | null
    expires_at: Date | null
    /** The process that is uploading it, and until when others wait for it. */
    claimed_by: string | null
    claimed_until: Date | null
  }
  /** An API request. The bodies of the request and the response are stored for failures only, without secrets. */
  api_requests: {
    account_id: string
    /** The request ID, which contains the time. */
    id: string
    method: string
    path: string
    status: number
    /** Null if the request succeeded. */
    error_code: string | null
    duration_ms: number
    key_start: string
    address: string
    /** Separated by `+`. */
    message_ids: string | null
    external_id: string | null
    request: string | null
    answer: string | null
  }
  /** The content of a message, for accounts that store it. Erased with its recipient. */
  message_contents: {
    account_id: string
    message_id: string
    content_encrypted: string
  }
  /** Saved views of the message log. */
  saved_views: {
    account_id: string
    owner_id: string
    name: string
    /** JSON. */
    filters: string
    created_at: Generated<Date>
  }
  /** WhatsApp's rates from a day on, until the next card. All cards have the same currency. */
  rate_cards: {
    /** A date such as `2026-10-01`. */
    valid_from: ColumnType<Date, string, string>
    /** ISO 4217. */
    currency: string
    imported_at: Generated<Date>
  }
  /** What WhatsApp charges for a message of a category to a country. */
  rates: {
    valid_from: ColumnType<Date, string, string>
    /** ISO 3166; `*` for all countries without a rate of their own. */
    country: string
    category: string
    /** The name of the market in the rate card. */
    market: string
    /** Millionths of the currency. */
    micros: ColumnType<string, string, string>
  }
  api_request_cutoffs: {
    at: Generated<Date>
  }
}
