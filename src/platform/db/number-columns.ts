/**
 * How the erasure of a recipient treats a column. `replace`: replaces the number within the text. `replace-unique`:
 * replaces the whole text with one that contains the row's `id`, for a column with a unique index. `delete-row`: deletes
 * rows whose text contains the number. `hash`: replaces the number of a suppression with its hash.
 */
export type NumberColumn = 'replace' | 'replace-unique' | 'delete-row' | 'hash'

/**
 * The one list of columns that can contain a recipient's number. A test lists all other columns with text, each with the
 * reason why it cannot contain one.
 */
export const numberColumns: Readonly<Record<string, Readonly<Record<string, NumberColumn>>>> = {
  messages: {
    to_number: 'replace',
    external_id: 'replace',
    wa_message_id: 'replace',
    error_message: 'replace',
    wa_id: 'replace',
    user_id: 'replace',
  },
  idempotency_keys: { key: 'delete-row' },
  recipient_identities: { identity: 'delete-row', person: 'delete-row', number: 'delete-row' },
  suppressions: { number_key: 'hash', to_number: 'hash' },
  one_time_codes: { to_number: 'delete-row', purpose: 'delete-row' },
  events: { payload: 'replace' },
  webhook_endpoints: { description: 'replace' },
  webhook_attempts: { error: 'replace', response_start: 'replace' },
  whatsapp_accounts: { inactive_reason: 'replace', inactive_fact: 'replace' },
  media: { filename: 'replace-unique' },
  api_requests: { path: 'replace', external_id: 'replace', request: 'replace', answer: 'replace' },
  saved_views: { name: 'delete-row', filters: 'delete-row' },
  alerts: {
    // Can quote WhatsApp's reason.
    body: 'replace',
    recovery_body: 'replace',
    facts: 'replace',
  },
}
