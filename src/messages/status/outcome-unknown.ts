import { type Kysely, sql } from 'kysely'
import { ServiceError } from '../../../contracts/errors.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import { recordEvents, toUnrecordedEvent } from '../../webhooks/events.ts'
import { requireMessage } from '../queries/read.ts'
import type { SendJournalEntry } from '../send-journal.ts'
import { failUnwritten, resolvePending } from '../send/settle-store.ts'
import { toEvents, toUnknownOutcomeEvent } from './apply-statuses.ts'
import { lockMessages, type MessageReference } from './store.ts'

/** What the report of an outcome needs. */
export type ReportDeps = Pick<Deps, 'db' | 'newId' | 'randomBytes' | 'notifications'>

const defaultBatchSize = 500

/**
 * Emits an event for each message that has been pending for `afterSeconds`, and returns how many. All nodes together
 * report a message once. It stays `pending`. Covers all accounts.
 */
export async function reportUnknownOutcomes(
  deps: ReportDeps,
  { afterSeconds, batchSize = defaultBatchSize }: { afterSeconds: number; batchSize?: number },
): Promise<number> {
  let reported = 0
  for (;;) {
    const { claimed, events } = await deps.db
      .transaction()
      .execute((trx) => reportSome(deps, trx, { afterSeconds, batchSize }))
    // After the commit, so that the workers that it wakes find the deliveries.
    if (events > 0) deps.notifications.notify('deliveries')
    reported += events
    if (claimed < batchSize) return reported
  }
}

async function reportSome(
  deps: ReportDeps,
  trx: Kysely<Database>,
  { afterSeconds, batchSize }: { afterSeconds: number; batchSize: number },
): Promise<{ claimed: number; events: number }> {
  const { rows } = await sql<{ accountId: string; messageId: string; reportedAt: Date }>`
    with due as (
      select o.account_id, o.id
      from overdue_messages o
      join messages m on m.account_id = o.account_id and m.id = o.id
      where o.reported_at is null and m.status = 'pending'
        and m.recorded_at < now() - ${afterSeconds}::float8 * interval '1 second'
      order by o.account_id, o.id
      limit ${sql.lit(batchSize)}
      for update of o skip locked
    )
    update overdue_messages o set reported_at = now()
    from due where o.account_id = due.account_id and o.id = due.id
    returning o.account_id as "accountId", o.id as "messageId", o.reported_at as "reportedAt"`.execute(trx)
  const [first] = rows
  if (!first) return { claimed: 0, events: 0 }
  const references = rows.map(({ accountId, messageId }) => ({ accountId, messageId, waMessageId: '' }))
  // If a status has arrived since, there is nothing to report.
  const pending = (await lockMessages(trx, references)).filter(({ status }) => status === 'pending')
  const events = pending.map((message) => toUnrecordedEvent(message, toUnknownOutcomeEvent(message, first.reportedAt)))
  await recordEvents(deps, trx, events)
  return { claimed: rows.length, events: events.length }
}

/**
 * Sets the outcome of a message to what an operator has found out, and reports it like one from WhatsApp. After `failed`,
 * a retry with the same idempotency key sends again. A later status from WhatsApp still applies.
 */
export async function resolveMessage(
  deps: ReportDeps,
  { accountId, messageId }: { accountId: string; messageId: string },
  resolution: 'failed' | 'sent',
): Promise<void> {
  const resolved = await deps.db.transaction().execute(async (trx) => {
    if (!(await resolvePending(trx, { accountId, id: messageId }, resolution))) return false
    await recordOutcomes(deps, trx, [{ accountId, messageId, waMessageId: '' }])
    return true
  })
  if (resolved) return deps.notifications.notify('deliveries')
  const message = await requireMessage(deps, accountId, messageId)
  if (message.status !== 'pending')
    throw new ServiceError(
      'SETTING_REFUSED',
      `Message ${messageId} is ${message.status}: only a pending message can be resolved.`,
    )
  throw new ServiceError(
    'SETTING_REFUSED',
    `The send of message ${messageId} may still be running. Try again a minute after it was recorded (${message.createdAt.toISOString()}).`,
  )
}

/**
 * Marks messages as failed that were certainly never written to WhatsApp. That causes no event: their callers got no
 * response and repeat the request, so the event would be about a message that is sent under the same external ID. Only
 * if the outcome was reported as unknown, the endpoints learn how it ended.
 */
export async function failInterrupted(
  deps: ReportDeps,
  entries: readonly SendJournalEntry[],
): Promise<{ found: string[]; failed: number }> {
  const { found, failed, reported } = await deps.db.transaction().execute(async (trx) => {
    const marked = await failUnwritten(trx, entries)
    const reported = marked.failed.length === 0 ? [] : await findReported(trx, marked.failed)
    if (reported.length > 0) await recordOutcomes(deps, trx, reported)
    return { ...marked, reported }
  })
  if (reported.length > 0) deps.notifications.notify('deliveries')
  return { found, failed: failed.length }
}

/** Finds the messages whose outcome was reported as unknown. */
async function findReported(trx: Kysely<Database>, messages: readonly SendJournalEntry[]): Promise<MessageReference[]> {
  const { rows } = await sql<MessageReference>`
    select account_id as "accountId", id as "messageId", '' as "waMessageId"
    from overdue_messages
    join unnest(
      ${messages.map(({ accountId }) => accountId)}::text[], ${messages.map(({ id }) => id)}::text[]
    ) as failed (account_id, id) using (account_id, id)
    where reported_at is not null`.execute(trx)
  return rows
}

/** Records the events of the current states of messages. */
async function recordOutcomes(
  deps: ReportDeps,
  trx: Kysely<Database>,
  references: readonly MessageReference[],
): Promise<void> {
  const messages = await lockMessages(trx, references)
  const events = messages.flatMap((message) =>
    toEvents(message, message, message.sentAt ?? message.failedAt ?? message.createdAt).map((event) =>
      toUnrecordedEvent(message, event),
    ),
  )
  await recordEvents(deps, trx, events)
}
