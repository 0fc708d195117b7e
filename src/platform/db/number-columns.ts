/**
 * What erasing a recipient does with a column: `replace` replaces the number within its text, `replace-unique` replaces
 * the whole text with one that contains the row's `id`, for a column that a unique index covers, `delete-row` deletes
 * the rows whose text contains the number, and `never` says why the column cannot contain one.
 */
export type NumberColumn = 'replace' | 'replace-unique' | 'delete-row' | { never: string }

const id = { never: 'an ID of our own' }
const word = { never: 'a word of our own, such as a status' }
const whatsAppId = { never: 'an ID that Meta assigned to a business' }
const secret = { never: 'encrypted, and holds no recipient' }
const hash = { never: 'a hash of something other than a number' }
const user = { never: 'of a dashboard user, who signs in with an e-mail address' }
const template = { never: 'of a template, which is the same for all recipients' }
const meta = { never: "Meta's words about a business number" }
const audit = { never: 'written by our own code, which names no recipient; the hash chain proves it unchanged' }
const settings = { never: 'a setting of the account' }

/**
 * The one list of columns that can contain a recipient's number. A test compares it with the schema: each column of
 * type text, jsonb or bytea (and arrays of them) must be listed here.
 */
export const numberColumns: Readonly<Record<string, Readonly<Record<string, NumberColumn>>>> = {
  messages: {
    account_id: id,
    id,
    whatsapp_account_id: id,
    status: word,
    to_number: 'replace',
    template_name: template,
    template_language: template,
    external_id: 'replace',
    wa_message_id: 'replace',
    error_code: word,
    error_message: 'replace',
  },
  wa_message_ids: { account_id: id, message_id: id },
  overdue_messages: { account_id: id, id },
  message_counts: { account_id: id, status: word, error_code: word },
  message_count_deltas: { account_id: id, status: word, error_code: word },
  idempotency_keys: {
    account_id: id,
    key: 'delete-row',
    request_hash: { never: 'a hash that covers the number; it is emptied with the message of the key' },
    message_id: id,
  },
  seen_replies: { account_id: id, hash: { never: 'a hash of a wamid, which has random digits beside the number' } },
  suppressions: {
    account_id: id,
    number_key: 'delete-row',
    id,
    to_number: 'delete-row',
    reason: word,
    whatsapp_account_id: id,
  },
  suppression_settings: { account_id: id, categories: word },
  one_time_codes: { account_id: id, id, to_number: 'delete-row', purpose: 'delete-row', mac: hash },
  one_time_code_limits: {
    account_id: id,
    kind: word,
    subject: { never: "an HMAC under the server's key, deleted after an hour" },
  },
  events: { account_id: id, id, type: word, message_id: id, payload: 'replace' },
  event_clocks: { account_id: id },
  webhook_endpoints: {
    id,
    account_id: id,
    url: settings,
    events: word,
    description: 'replace',
    headers_encrypted: secret,
    secret_encrypted: secret,
    previous_secret_encrypted: secret,
    disabled_reason: word,
  },
  webhook_deliveries: { account_id: id, id, endpoint_id: id, event_id: id },
  webhook_finished_deliveries: { account_id: id, id, endpoint_id: id, event_id: id, outcome: word },
  webhook_attempts: {
    account_id: id,
    delivery_id: id,
    endpoint_id: id,
    event_id: id,
    error: 'replace',
    response_start: 'replace',
  },
  accounts: { id, name: settings, allow_list: settings },
  api_keys: { account_id: id, key_hash: hash, start: { never: 'the first characters of an API key' } },
  rate_limits: { account_id: id },
  whatsapp_accounts: {
    id,
    account_id: id,
    phone_number_id: whatsAppId,
    waba_id: whatsAppId,
    access_token_encrypted: secret,
    app_secret_encrypted: secret,
    inactive_reason: 'replace',
    quality_rating: meta,
    throughput_level: meta,
    display_phone_number: { never: 'the number of the business, not of a recipient' },
    verified_name: meta,
  },
  whatsapp_account_health: {
    whatsapp_account_id: id,
    account_id: id,
    app_id: whatsAppId,
    token_problem: meta,
    missing_permissions: meta,
    number_status: meta,
    name_status: meta,
    messaging_limit: meta,
    health: meta,
    traffic: { never: 'numbers of messages and their error codes' },
    announced_quality: meta,
    subscription_problem: meta,
    callback_url: settings,
    callback_fields: meta,
    callback_problem: meta,
    announced_findings: word,
  },
  templates: {
    account_id: id,
    waba_id: whatsAppId,
    name: template,
    language: template,
    whatsapp_template_id: whatsAppId,
    status: word,
    category: word,
    parameter_format: word,
    components: template,
    quality_score: meta,
    rejected_reason: meta,
    announced_status: word,
    announced_category: word,
  },
  media: { id, account_id: id, sha256: { never: 'a hash of a file' }, type: word, filename: 'replace-unique' },
  media_usage: { account_id: id },
  removed_media: { id },
  media_at_whatsapp: {
    account_id: id,
    phone_number_id: whatsAppId,
    sha256: { never: 'a hash of a file' },
    type: word,
    wa_media_id: whatsAppId,
    claimed_by: id,
  },
  owners: { id, name: user, email: user, image: user },
  owner_sessions: { id, token: user, userId: id, ipAddress: user, userAgent: user, lastSeenAddress: user },
  owner_credentials: {
    id,
    accountId: user,
    providerId: user,
    userId: id,
    accessToken: user,
    refreshToken: user,
    idToken: user,
    scope: user,
    password: hash,
  },
  owner_verifications: { id, identifier: user, value: user },
  owner_two_factors: { id, secret, backupCodes: secret, userId: id },
  owner_sign_in_rates: { id, key: { never: 'an IP address and a path' } },
  owner_tries: { key: hash },
  owner_auth_secret: { secret_encrypted: secret },
  owner_roles: { account_id: id, owner_id: id, role: word },
  owner_invitations: { token_hash: hash, account_id: id, email: user, role: word, invited_by: user },
  emails: { id, account_id: id, kind: word, recipient: user, content_encrypted: secret },
  audit_log_unchained: { account_id: id, id, who: audit, what: audit, address: audit, outcome: word },
  audit_entries: {
    account_id: id,
    id,
    outcome: word,
    who: audit,
    what: audit,
    address: audit,
    key_id: id,
    hash,
    mac: hash,
  },
  audit_chains: { account_id: id, hash, expired_hash: hash, key_id: id, mac: hash },
  audit_keys: { id, key_encrypted: secret },
}
