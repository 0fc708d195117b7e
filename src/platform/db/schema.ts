import type { ColumnType, Generated, GeneratedAlways } from 'kysely'
import type { MessageStatus } from '../../../contracts/api/message.ts'
import type { Role } from '../../../contracts/procedure.ts'

/** JSON goes in as text and comes out parsed: `pg` would take an array for a PostgreSQL array. */
type Json<T> = ColumnType<T, string, string>

export interface AccountsTable {
  id: string
  name: string
  api_enabled: Generated<boolean>
  rate_limit_per_minute: Generated<number>
  /** Addresses and CIDR ranges in canonical spelling. Empty: every address may call. */
  allow_list: Generated<string[]>
  created_at: Generated<Date>
}

/** One key per account (spec, API key). Only its SHA-256 is kept. */
export interface ApiKeysTable {
  account_id: string
  key_hash: Uint8Array
  /** The first characters, enough to tell keys apart. */
  start: string
  created_at: Generated<Date>
}

/** Requests spent in the running minute. Unlogged: after a crash every account starts a new minute. */
export interface RateLimitsTable {
  account_id: string
  window_started_at: Date
  used: number
}

export interface WhatsAppAccountsTable {
  id: string
  account_id: string
  phone_number_id: string
  waba_id: string
  access_token_encrypted: string
  app_secret_encrypted: string | null
  is_default: boolean
  /** By a person. */
  switched_off: Generated<boolean>
  /** Why WhatsApp refuses it; null when it does not. */
  inactive_reason: string | null
  /** Neither of the two. */
  active: GeneratedAlways<boolean>
  /** As WhatsApp reports them (reference, section 5); null until the first sync. */
  quality_rating: Generated<string | null>
  throughput_level: Generated<string | null>
  display_phone_number: Generated<string | null>
  verified_name: Generated<string | null>
  /** When the templates of its WABA were listed last, be it that there were none. */
  templates_synced_at: Generated<Date | null>
  /** When templates and numbers are read from WhatsApp next. */
  next_sync_at: Generated<Date>
  created_at: Generated<Date>
}

/** A component as the Graph API lists it; only what we read is named, the rest is kept. */
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
  [key: string]: unknown
}

/** Identity is (WABA, name, language): reference, section 3.1. */
export interface TemplatesTable {
  account_id: string
  waba_id: string
  name: string
  language: string
  /** WhatsApp's template id, kept as text: it can exceed 2^53. */
  whatsapp_template_id: string
  status: string
  category: string | null
  parameter_format: string
  components: Json<StoredComponent[]>
  quality_score: string | null
  rejected_reason: string | null
  synced_at: Date
}

export interface MessagesTable {
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
  /** By the database's clock. */
  recorded_at: Generated<Date>
}

/** By what a status finds its message that does not carry our id: `hashtextextended` of the wamid. */
export interface WaMessageIdsTable {
  hash: string
  account_id: string
  message_id: string
}

/** Messages that were pending a minute after they were recorded. */
export interface OverdueMessagesTable {
  account_id: string
  id: string
  /** When an event reported that the outcome stays unknown. */
  reported_at: Date | null
}

/** One row: messages recorded until then were looked at. */
export interface OverdueProgressTable {
  only_one: Generated<boolean>
  looked_until: Date
}

/** How many messages of an account and a day are in one state, as the trigger of migration 0005 notes it. */
export interface MessageCountsTable {
  account_id: string
  /** Of `created_at`, in UTC: `2026-11-20`. */
  day: ColumnType<Date, string, string>
  status: MessageStatus
  accepted: boolean
  error_code: string
  delivery_seconds: number
  count: number
}

export interface IdempotencyKeysTable {
  account_id: string
  key: string
  request_hash: Uint8Array
  message_id: string
  created_at: Generated<Date>
}

export interface WebhookEndpointsTable {
  id: string
  account_id: string
  url: string
  /** Event types that this endpoint gets. */
  events: string[]
  description: string | null
  /** Extra request headers as encrypted JSON, since they may authorize; null when there are none. */
  headers_encrypted: string | null
  secret_encrypted: string
  /** The secret before the last rotation, signed with too until it expires. */
  previous_secret_encrypted: string | null
  previous_secret_expires_at: Date | null
  enabled: Generated<boolean>
  disabled_reason: string | null
  /** Since when every attempt has failed; null while the last one succeeded. */
  failing_since: Date | null
  created_at: Generated<Date>
}

/** A status change worth telling, once. */
export interface EventsTable {
  account_id: string
  id: string
  type: string
  message_id: string
  /** The body of the webhook, byte for byte as it is signed. */
  payload: string
  created_at: Date
}

/** One row per account that has events, locked by whoever records more of them, until the commit. */
export interface EventClocksTable {
  account_id: string
  /** The time in the last id, which may be ahead of the database's clock. */
  last_milliseconds: string
  /** The furthest that an id was ever ahead of the database's clock. */
  ahead_milliseconds: Generated<string>
}

/** One row. */
export interface DatabaseClockTable {
  only_one: Generated<boolean>
  /** The latest time that any process has seen. */
  highest: Date
}

/** Deliveries that wait or are under way. Finished ones move to `webhook_finished_deliveries`. */
export interface WebhookDeliveriesTable {
  id: string
  account_id: string
  endpoint_id: string
  event_id: string
  /** When the next attempt is due; while one is under way, when its lease ends. */
  due_at: Date
  /** Attempts that ended. */
  attempts: number
  /** Counts the claims: a worker whose claim was taken over cannot complete. */
  generation: number
  created_at: Date
}

export interface WebhookFinishedDeliveriesTable {
  account_id: string
  id: string
  endpoint_id: string
  event_id: string
  outcome: 'delivered' | 'failed'
  attempts: number
  created_at: Date
  finished_at: Date
}

/** One POST of a delivery. */
export interface WebhookAttemptsTable {
  account_id: string
  delivery_id: string
  endpoint_id: string
  event_id: string
  /** 1 is the first. */
  number: number
  started_at: Date
  duration_ms: number
  /** Absent when no answer came. */
  status_code: number | null
  /** Why it failed, in our words. */
  error: string | null
  /** First bytes of the answer. */
  response_start: string | null
}

/** A person who signs in to the dashboard. better-auth reads and writes it, and spells its columns. */
export interface OwnersTable {
  id: string
  name: string
  email: string
  emailVerified: boolean
  twoFactorEnabled: Generated<boolean>
}

/** better-auth's; here only to end a person's sessions. */
export interface OwnerSessionsTable {
  id: string
  userId: string
}

/** better-auth's: tries to sign in, by address. */
export interface OwnerSignInRatesTable {
  id: string
  key: string
}

/** Passwords and codes that were tried for one person, from wherever; the key is a SHA-256. */
export interface OwnerTriesTable {
  key: Uint8Array
  count: number
  ends_at: Date
}

/** better-auth's: password (`providerId` is `credential`), or a sign-in elsewhere. */
export interface OwnerCredentialsTable {
  id: string
  userId: string
  providerId: string
}

/** better-auth's: here only to be forgotten when an operator lets a person in anew. */
export interface OwnerTwoFactorsTable {
  id: string
  userId: string
}

export interface OwnerAuthSecretTable {
  only_one: Generated<boolean>
  secret_encrypted: string
}

export interface OwnerRolesTable {
  account_id: string
  owner_id: string
  role: Role
  created_at: Generated<Date>
}

/** Valid once. Only the SHA-256 of its token is kept. */
export interface OwnerInvitationsTable {
  token_hash: Uint8Array
  account_id: string
  email: string
  role: Role
  /** An operator took the password of this person: the link gives them a new one. */
  sets_password: Generated<boolean>
  created_at: Generated<Date>
  expires_at: Date
}

/** Written by the version before; moved into `audit_entries` when the audit log is first used. */
export interface AuditLogUnchainedTable {
  account_id: string
  id: string
  who: string
  what: string
  address: string
  outcome: Generated<AuditOutcome>
  created_at: Generated<Date>
}

export type AuditOutcome = 'started' | 'done' | 'refused'

/** The start of an audited action, its outcome, or both at once. Entries are only ever added, and expire. */
export interface AuditEntriesTable {
  account_id: string
  /** 1 for the first entry of an account. */
  sequence: number
  start_sequence: number | null
  /** Of the action: its start and its outcome share it. */
  id: string
  outcome: AuditOutcome
  /** E-mail address: it stays when the person goes. */
  who: string
  what: string
  address: string
  created_at: Date
  key_id: string
  hash: Uint8Array
  mac: Uint8Array
}

/** The head of an account's audit log, and where what expired ended. Locked while an entry is appended. */
export interface AuditChainsTable {
  account_id: string
  sequence: number
  hash: Uint8Array
  expired_sequence: number
  expired_hash: Uint8Array
  key_id: string
  mac: Uint8Array
}

export interface AuditKeysTable {
  id: string
  key_encrypted: string
  created_at: Generated<Date>
}

export interface Database {
  owners: OwnersTable
  owner_sessions: OwnerSessionsTable
  owner_sign_in_rates: OwnerSignInRatesTable
  owner_tries: OwnerTriesTable
  owner_credentials: OwnerCredentialsTable
  owner_two_factors: OwnerTwoFactorsTable
  owner_auth_secret: OwnerAuthSecretTable
  owner_roles: OwnerRolesTable
  owner_invitations: OwnerInvitationsTable
  audit_log_unchained: AuditLogUnchainedTable
  audit_entries: AuditEntriesTable
  audit_chains: AuditChainsTable
  audit_keys: AuditKeysTable
  accounts: AccountsTable
  api_keys: ApiKeysTable
  rate_limits: RateLimitsTable
  whatsapp_accounts: WhatsAppAccountsTable
  templates: TemplatesTable
  messages: MessagesTable
  wa_message_ids: WaMessageIdsTable
  overdue_messages: OverdueMessagesTable
  overdue_progress: OverdueProgressTable
  message_counts: MessageCountsTable
  /** What has changed since `message_counts` was last brought up to date; the same columns, and a count can be negative. */
  message_count_deltas: MessageCountsTable
  idempotency_keys: IdempotencyKeysTable
  webhook_endpoints: WebhookEndpointsTable
  events: EventsTable
  event_clocks: EventClocksTable
  database_clock: DatabaseClockTable
  webhook_deliveries: WebhookDeliveriesTable
  webhook_finished_deliveries: WebhookFinishedDeliveriesTable
  webhook_attempts: WebhookAttemptsTable
}
