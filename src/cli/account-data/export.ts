import { type Kysely, type RawBuilder, sql } from 'kysely'
import { MessageEvent } from '../../../contracts/events.ts'
import { requireAccount } from '../../accounts/account.ts'
import { toRequestDetails } from '../../accounts/requests/list.ts'
import { requestColumns, type StoredRequest } from '../../accounts/requests/store.ts'
import { listWhatsAppAccounts } from '../../whatsapp-accounts/whatsapp-account.ts'
import type { Deps } from '../../deps.ts'
import { toMedia } from '../../media/media.ts'
import { mediaColumns, type MediaRow } from '../../media/store.ts'
import { messageColumns, type StoredMessage, toMessage } from '../../messages/message.ts'
import { openContent } from '../../messages/contents/content.ts'
import { findFirstShown, readContents } from '../../messages/contents/store.ts'
import type { StoredIdentity } from '../../messages/recipients/plan-identities.ts'
import { identityColumns } from '../../messages/recipients/store.ts'
import { getSuppressionSettings } from '../../messages/suppressions/check.ts'
import { latestUserId, type ListedSuppression, suppressionColumns } from '../../messages/suppressions/store.ts'
import { addedByOf, toSuppression } from '../../messages/suppressions/suppressions.ts'
import { fieldsOf, selectionOf } from '../../platform/db/columns.ts'
import type { Database } from '../../platform/db/schema.ts'
import { templateColumns, type TemplateRow } from '../../templates/store.ts'
import { toTemplate } from '../../templates/template.ts'
import type { AuditDeps } from '../../users/audit/append.ts'
import { exportAudit } from '../../users/audit/audit.ts'
import { findMembers } from '../../users/store.ts'
import { getAlertSettings } from '../../webhooks/alerts/settings.ts'
import { toDelivery } from '../../webhooks/deliveries/delivery.ts'
import { type DeliveryRow, findAttempts } from '../../webhooks/deliveries/store.ts'
import { listEndpoints } from '../../webhooks/endpoints/endpoint.ts'

export type ExportDeps = Pick<Deps, 'db' | 'now' | 'secrets' | 'mail'> & AuditDeps

/** Yields records a page at a time, so that an export of any size needs little memory. */
type Pages = AsyncGenerator<object[], void, void>
type Section = (deps: ExportDeps, accountId: string) => Pages

/**
 * How an export treats each table of an account: the type of its records and how to read them, or why it is excluded. A
 * test compares the list with the schema.
 */
export const exportedTables: Readonly<Record<string, { type: string; read: Section } | { excluded: string }>> = {
  accounts: {
    type: 'account',
    read: async function* ({ db }, accountId) {
      yield [await requireAccount(db, accountId)]
    },
  },
  whatsapp_accounts: {
    type: 'whatsAppAccount',
    read: async function* (deps, accountId) {
      yield await listWhatsAppAccounts(deps, accountId)
    },
  },
  webhook_endpoints: {
    type: 'webhookEndpoint',
    read: async function* (deps, accountId) {
      yield await listEndpoints(deps, accountId)
    },
  },
  owner_roles: {
    type: 'member',
    read: async function* ({ db }, accountId) {
      yield (await findMembers(db, accountId)).map(({ email, name, role, alertEmails }) => ({
        email,
        name,
        role,
        alertEmails,
      }))
    },
  },
  owner_invitations: {
    type: 'invitation',
    read: async function* ({ db }, accountId) {
      const rows = await db
        .selectFrom('owner_invitations')
        .select(['email', 'role', 'created_at as createdAt', 'expires_at as expiresAt'])
        .where('account_id', '=', accountId)
        .execute()
      yield rows
    },
  },
  templates: {
    type: 'template',
    read: ({ db }, accountId) =>
      readPages<TemplateRow>(db, accountId, {
        table: 'templates',
        fields: selectionOf(templateColumns),
        key: ['waba_id', 'name', 'language'],
        // The example and the schema are derived from the other fields.
        toRecord: (row) => ({ wabaId: row.wabaId, ...toTemplate(row), example: undefined, sendSchema: undefined }),
      }),
  },
  messages: {
    type: 'message',
    read: ({ db }, accountId) => readPages(db, accountId, messages),
  },
  message_contents: {
    type: 'messageContent',
    read: async function* ({ db, now, secrets }, accountId) {
      const from = await findFirstShown(db, accountId, now())
      if (from === undefined) return
      for await (const rows of readContents(db, { accountId, from }))
        yield rows.map((row) => ({
          messageId: row.messageId,
          ...(openContent(secrets, row, row.ciphertext) ?? { unreadable: true }),
        }))
    },
  },
  media: {
    type: 'media',
    read: ({ db }, accountId) =>
      readPages<MediaRow>(db, accountId, {
        table: 'media',
        fields: selectionOf(mediaColumns),
        key: ['id'],
        toRecord: toMedia,
      }),
  },
  events: {
    type: 'event',
    read: ({ db }, accountId) => readPages(db, accountId, events),
  },
  webhook_deliveries: { type: 'delivery', read: (deps, accountId) => readDeliveries(deps, accountId, waiting) },
  webhook_finished_deliveries: {
    type: 'delivery',
    read: (deps, accountId) => readDeliveries(deps, accountId, finished),
  },
  message_counts: {
    type: 'messageCount',
    read: ({ db }, accountId) => readCounts(db, accountId),
  },
  message_count_buckets: { excluded: 'added to the days of message_counts in the export' },
  message_count_templates: { excluded: 'names that are in message_counts' },
  suppressions: {
    type: 'suppression',
    // Recipients who opted in again are exported, too.
    read: ({ db }, accountId) =>
      readPages(db, accountId, {
        ...suppressions,
        toRecord: (row: ListedSuppression) => ({ ...suppressions.toRecord(row), addedBy: addedByOf(row) }),
      }),
  },
  recipient_identities: {
    type: 'recipientIdentity',
    read: ({ db }, accountId) => readPages(db, accountId, identities),
  },
  suppression_settings: {
    type: 'suppressionSettings',
    read: async function* (deps, accountId) {
      yield [await getSuppressionSettings(deps, accountId)]
    },
  },
  audit_entries: {
    type: 'audit',
    read: async function* (deps, accountId) {
      for await (const lines of exportAudit(deps, accountId))
        yield lines.map((line) => ({ ...(JSON.parse(line) as object) }))
    },
  },
  api_requests: {
    type: 'apiRequest',
    read: ({ db }, accountId) =>
      readPages<StoredRequest>(db, accountId, {
        table: 'api_requests',
        fields: selectionOf(requestColumns),
        key: ['id'],
        toRecord: toRequestDetails,
      }),
  },
  saved_views: {
    type: 'savedView',
    read: ({ db }, accountId) =>
      readPages<SavedView>(db, accountId, {
        table: 'saved_views',
        fields: `name, filters, saved_views.created_at as "createdAt", (select email from owners where id = owner_id) as email`,
        key: ['owner_id', 'name'],
        toRecord: ({ email, name, filters, createdAt }) => ({
          email,
          name,
          filters: JSON.parse(filters) as unknown,
          createdAt: createdAt.toISOString(),
        }),
      }),
  },
  operator_views: { excluded: 'which operators view the account; the audit log records when they open it' },
  media_usage: { excluded: 'the sum of the sizes of media' },
  suppression_usage: { excluded: 'the number of suppressions' },
  media_at_whatsapp: { excluded: 'IDs that WhatsApp gives to files for 30 days' },
  seen_replies: { excluded: 'hashes of the IDs of replies' },
  one_time_codes: { excluded: 'hashes of codes of the last hours' },
  one_time_code_limits: { excluded: 'hashes and counts of the last hour' },
  webhook_attempts: { excluded: 'part of their delivery' },
  webhook_attempt_counts: { excluded: 'counts of the attempts of the last days' },
  audit_chains: { excluded: 'its head is a record of the audit log' },
  audit_log_unchained: { excluded: 'moves to audit_entries before the audit log is read' },
  api_keys: { excluded: 'a hash of the key; the account shows how the key starts' },
  whatsapp_account_health: { excluded: 'facts that can be requested from Meta again' },
  idempotency_keys: { excluded: 'hashes of requests of the last 24 hours' },
  message_count_deltas: { excluded: 'added to message_counts within seconds' },
  event_clocks: { excluded: 'the time of the last event ID' },
  rate_limits: { excluded: 'requests of the current minute' },
  request_log_limits: { excluded: 'logged requests of the current minute' },
  overdue_messages: { excluded: 'IDs of messages that are pending' },
  wa_message_ids: { excluded: 'an index of messages' },
  alert_settings: {
    type: 'alertSettings',
    read: async function* (deps, accountId) {
      yield [await getAlertSettings(deps, accountId)]
    },
  },
  alerts: { excluded: 'repeat what events and logs report' },
  chat_posts: { excluded: 'pending posts, kept for a day at most' },
  emails: { excluded: 'pending emails with links, kept for a day at most' },
}

/** Yields an export as JSON Lines. The last line counts the records, so that a truncated file is detected. */
export async function* exportAccount(deps: ExportDeps, accountId: string): AsyncGenerator<string[], void, void> {
  await requireAccount(deps.db, accountId)
  const counts: Record<string, number> = {}
  for (const table of Object.values(exportedTables)) {
    if ('excluded' in table) continue
    const { type, read } = table
    counts[type] ??= 0
    for await (const page of read(deps, accountId)) {
      counts[type] += page.length
      if (page.length > 0) yield page.map((data) => JSON.stringify({ type, data }))
    }
  }
  yield [JSON.stringify({ type: 'end', data: { accountId, exportedAt: deps.now().toISOString(), counts } })]
}

interface SavedView {
  email: string
  name: string
  filters: string
  createdAt: Date
}

const pageSize = 500
const counted = sql.raw(
  'status, accepted, error_code, delivery_seconds, whatsapp_account_id, template_name, country, pricing, count',
)

/** Reads a day at a time, because the counts of an account can be many. */
async function* readCounts(db: Kysely<Database>, accountId: string): Pages {
  for (let day = await findCountedDay(db, accountId, '-infinity'); day !== null;) {
    const { rows } = await sql<object>`
      select to_char(${day}::date, 'YYYY-MM-DD') as day, status, accepted, error_code as "errorCode",
        delivery_seconds as "deliverySeconds", whatsapp_account_id as "whatsAppAccountId", template_name as template,
        country, pricing, sum(count)::integer as count
      from (
        select ${counted} from message_counts where account_id = ${accountId} and day = ${day}::date
        union all
        select ${counted} from message_count_buckets where account_id = ${accountId}
          and start >= ${day}::date::timestamp at time zone 'UTC'
          and start < (${day}::date + 1)::timestamp at time zone 'UTC'
      ) counts
      group by 2, 3, 4, 5, 6, 7, 8, 9
      having sum(count) <> 0
      order by 2, 3, 4, 5, 6, 7, 8, 9`.execute(db)
    yield rows
    day = await findCountedDay(db, accountId, day)
  }
}

async function findCountedDay(db: Kysely<Database>, accountId: string, after: string): Promise<string | null> {
  const { rows } = await sql<{ day: string | null }>`
    select least(
      (select min(day) from message_counts where account_id = ${accountId} and day > ${after}::date),
      (select (min(start) at time zone 'UTC')::date from message_count_buckets
        where account_id = ${accountId} and start >= (${after}::date + 1)::timestamp at time zone 'UTC')
    )::text as day`.execute(db)
  return rows[0]?.day ?? null
}

/** How to read the rows of a table as records. */
export interface PageQuery<Row> {
  table: string
  /** SQL text from this file, never from a user. */
  fields: string
  /** Only these rows; all rows of the account if absent. */
  where?: RawBuilder<unknown>
  /** Columns after `account_id` that order the rows. */
  key: string[]
  toRecord: (row: Row) => object
}

export const messages: PageQuery<StoredMessage> = {
  table: 'messages',
  fields: fieldsOf(messageColumns, 'messages'),
  key: ['id'],
  toRecord: (row) => ({ ...toMessage(row), ...(row.pricing !== null && { pricing: row.pricing }) }),
}

export const events: PageQuery<{ id: string; createdAt: Date; payload: string }> = {
  table: 'events',
  fields: 'id, created_at as "createdAt", payload',
  key: ['id'],
  toRecord: ({ id, createdAt, payload }) => ({
    eventId: id,
    createdAt: createdAt.toISOString(),
    event: readPayload(payload),
  }),
}

export const suppressions: PageQuery<ListedSuppression> = {
  table: 'suppressions',
  fields: `${selectionOf(suppressionColumns)}, ${latestUserId} as "userId"`,
  key: ['number_key'],
  toRecord: (row) => ({ ...toSuppression(row), suppressed: row.suppressed }),
}

export const identities: PageQuery<StoredIdentity> = {
  table: 'recipient_identities',
  fields: fieldsOf(identityColumns, 'recipient_identities'),
  key: ['identity'],
  toRecord: (row) => ({
    ...(row.number === null ? { userId: row.identity } : { number: row.number }),
    // All names of a person have the same value here.
    person: row.person,
    seenAt: row.seenAt.toISOString(),
  }),
}

export async function* readPages<Row>(
  db: Kysely<Database>,
  accountId: string,
  { table, fields, where = sql`true`, key, toRecord }: PageQuery<Row>,
): Pages {
  const columns = sql.join(key.map((column) => sql`${sql.table(table)}.${sql.ref(column)}`))
  const keyTexts = sql.join(key.map((column) => sql`${sql.table(table)}.${sql.ref(column)}::text`))
  for (let after: string[] | undefined; ;) {
    const rest = after === undefined ? sql`` : sql`and (${columns}) > (${sql.join(after)})`
    const { rows } = await sql<Row & { exportKey: string[] }>`
      select ${sql.raw(fields)}, array[${keyTexts}] as "exportKey" from ${sql.table(table)}
      where account_id = ${accountId} and ${where} ${rest}
      order by ${columns} limit ${sql.lit(pageSize)}`.execute(db)
    yield rows.map((row) => toRecord(row))
    after = rows.at(-1)?.exportKey
    if (!after || rows.length < pageSize) return
  }
}

/** An event of a type that a later version added is exported as stored. */
function readPayload(payload: string): unknown {
  const stored: unknown = JSON.parse(payload)
  const known = MessageEvent.safeParse(stored)
  return known.success ? known.data : stored
}

const waiting = {
  table: 'webhook_deliveries',
  fields: `id, endpoint_id as "endpointId", event_id as "eventId", 'waiting' as state, created_at as "createdAt",
    due_at as "dueAt", null::timestamptz as "finishedAt"`,
}
const finished = {
  table: 'webhook_finished_deliveries',
  fields: `id, endpoint_id as "endpointId", event_id as "eventId", outcome as state, created_at as "createdAt",
    null::timestamptz as "dueAt", finished_at as "finishedAt"`,
}

type StoredDelivery = Omit<DeliveryRow, 'type' | 'messageId'> & { endpointId: string }

/** Records do not repeat the event type and the message ID, which the exported event has. */
async function* readDeliveries(
  { db }: Pick<Deps, 'db'>,
  accountId: string,
  from: { table: string; fields: string },
): Pages {
  const pages = readPages<StoredDelivery>(db, accountId, { ...from, key: ['id'], toRecord: (row) => row })
  for await (const page of pages as AsyncGenerator<StoredDelivery[], void, void>) {
    const ids = page.map(({ id }) => id)
    const attempts = Map.groupBy(await findAttempts(db, accountId, ids), (attempt) => attempt.deliveryId)
    yield page.map((row) => ({
      endpointId: row.endpointId,
      ...toDelivery({ ...row, type: null, messageId: null }, attempts.get(row.id) ?? [], {
        enabled: true,
        withReplies: true,
      }),
    }))
  }
}
