import { type Kysely, sql } from 'kysely'
import { ServiceError } from '../../../contracts/errors.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import { recordEvents } from '../../webhooks/events/store.ts'
import { resolvePending } from '../send/settle-store.ts'
import { toUnrecordedEvent } from './apply-statuses.ts'
import { lockMessages } from './store.ts'
import { toUnknownOutcomeEvent } from './to-event.ts'
import { findMessage } from '../store.ts'

type ReportDeps = Pick<Deps, 'db' | 'newId' | 'randomBytes' | 'announcements'>

const reportedAtOnce = 500

/**
 * Reports each message that has been pending for so long, once, whichever node does it: with an event, and in the
 * number that is returned. The message stays `pending`. Of all accounts.
 */
export async function reportUnknownOutcomes(
  deps: ReportDeps,
  { afterSeconds, atOnce = reportedAtOnce }: { afterSeconds: number; atOnce?: number },
): Promise<number> {
  let reported = 0
  for (;;) {
    const { claimed, events } = await deps.db
      .transaction()
      .execute((trx) => reportSome(deps, trx, { afterSeconds, atOnce }))
    // After the commit: the workers find the deliveries that they are woken for.
    if (events > 0) deps.announcements.announce('deliveries')
    reported += events
    if (claimed < atOnce) return reported
  }
}

async function reportSome(
  deps: ReportDeps,
  trx: Kysely<Database>,
  { afterSeconds, atOnce }: { afterSeconds: number; atOnce: number },
): Promise<{ claimed: number; events: number }> {
  const { rows } = await sql<{ account_id: string; id: string; reported_at: Date }>`
    with due as (
      select o.account_id, o.id
      from overdue_messages o
      join messages m on m.account_id = o.account_id and m.id = o.id
      where o.reported_at is null and m.status = 'pending'
        and m.recorded_at < now() - ${afterSeconds}::float8 * interval '1 second'
      order by o.account_id, o.id
      limit ${sql.lit(atOnce)}
      for update of o skip locked
    )
    update overdue_messages o set reported_at = now()
    from due where o.account_id = due.account_id and o.id = due.id
    returning o.account_id, o.id, o.reported_at`.execute(trx)
  const [first] = rows
  if (!first) return { claimed: 0, events: 0 }
  const references = rows.map(({ account_id, id }) => ({ accountId: account_id, messageId: id, waMessageId: '' }))
  // A status may have come since: then there is nothing to report.
  const pending = (await lockMessages(trx, references)).filter(({ status }) => status === 'pending')
  const events = pending.map((message) =>
    toUnrecordedEvent({ message, event: toUnknownOutcomeEvent(message, first.reported_at) }),
  )
  await recordEvents(trx, events, deps)
  return { claimed: rows.length, events: events.length }
}

export const resolutions = ['failed', 'sent'] as const
export type Resolution = (typeof resolutions)[number]

/**
 * Gives a message of unknown outcome the one that an operator has found out. As `failed`, a retry with the same
 * idempotency key sends anew; as `sent`, it is answered as sent. A status of WhatsApp that comes later still counts.
 */
export async function resolveMessage(
  { db }: Pick<Deps, 'db'>,
  { accountId, messageId }: { accountId: string; messageId: string },
  resolution: Resolution,
): Promise<void> {
  if (await resolvePending(db, { accountId, id: messageId }, resolution)) return
  const message = await findMessage(db, accountId, messageId)
  if (!message) throw new ServiceError('SETTING_REFUSED', `There is no message ${JSON.stringify(messageId)}.`)
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
