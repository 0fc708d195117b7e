import { setTimeout as delay } from 'node:timers/promises'
import type { Deps } from '../../deps.ts'
import { isTransient } from '../../platform/db/errors.ts'
import type { PendingMessage } from '../message.ts'
import { applyStatuses } from '../status/apply-statuses.ts'
import type { IdempotentRequest } from './idempotency.ts'
import type { SendResult } from './outcome.ts'
import { settleAccepted, settleFailed } from './settle-store.ts'

/** Delays between attempts to settle a message while the database is unavailable: about ten minutes in total. */
const retryMilliseconds = [100, 250, 500, 1_000, 2_000, ...Array.from({ length: 120 }, () => 5_000)]

/**
 * Stores the outcome of a send. If the database is unavailable, the caller still gets WhatsApp's response, and the row
 * is settled in the background. If this process ends first, the row stays `pending` until the status webhook settles
 * it.
 */
export async function settle(
  deps: Pick<
    Deps,
    'db' | 'now' | 'log' | 'newId' | 'randomBytes' | 'announcements' | 'journal' | 'secrets' | 'tracing'
  >,
  message: PendingMessage,
  result: SendResult,
  request: IdempotentRequest | undefined,
): Promise<void> {
  const at = deps.now()
  await persist(deps, message.id, async () => {
    await writeResult(deps, message, result, request, at)
    return true
  })
}

/**
 * After this time, an insert whose result was lost has committed or never will: it does nothing ten seconds after it
 * was issued (record-store.ts), and its statement timeout is shorter than the remaining time.
 */
const maxInsertMilliseconds = 30_000

/**
 * Marks a message as failed that was not sent to WhatsApp, because the outcome of its insert is unknown. The insert may
 * have committed, or may still commit, and must not keep its idempotency key claimed. A missing row is therefore looked
 * up again until no insert can be running.
 */
export async function settleNeverDispatched(
  deps: Pick<Deps, 'db' | 'now' | 'log' | 'journal'>,
  message: PendingMessage,
  request: IdempotentRequest | undefined,
): Promise<void> {
  const at = deps.now()
  await persist(deps, message.id, async () => {
    const failed = await settleFailed(deps.db, message, { ...neverDispatched, at, releaseKey: request?.key })
    return failed || deps.now().getTime() - at.getTime() > maxInsertMilliseconds
  })
}

const neverDispatched = {
  code: 'SERVICE_UNAVAILABLE',
  reason: 'the database became unavailable before the message was sent',
}

/** `write` returns whether it is done; until then, it is retried in the background. */
async function persist(
  deps: Pick<Deps, 'log' | 'journal'>,
  messageId: string,
  write: () => Promise<boolean>,
): Promise<void> {
  try {
    if (await write()) return deps.journal.settled(messageId)
  } catch (error) {
    deps.log.warn({ err: error, messageId }, 'a message could not be settled yet; trying again')
    if (!isTransient(error)) return
  }
  void persistLater(deps, messageId, write)
}

async function writeResult(
  deps: Pick<Deps, 'db' | 'newId' | 'randomBytes' | 'announcements' | 'secrets' | 'tracing'>,
  message: PendingMessage,
  result: SendResult,
  request: IdempotentRequest | undefined,
  at: Date,
): Promise<void> {
  switch (result.kind) {
    case 'sent':
      return settleSent(deps, message, result.waMessageId, at)
    case 'failed':
      // If there is no pending row, a status arrived first and is kept.
      await settleFailed(deps.db, message, {
        code: result.code,
        reason: result.reason,
        at,
        releaseKey: result.final ? undefined : request?.key,
      })
      return
    case 'pending':
      return
  }
}

/** If an endpoint subscribes to `message.sent`, the response is applied like a `sent` status, which emits the event. */
async function settleSent(
  deps: Pick<Deps, 'db' | 'newId' | 'randomBytes' | 'announcements' | 'secrets' | 'tracing'>,
  message: PendingMessage,
  waMessageId: string,
  at: Date,
): Promise<void> {
  if (!message.emitSentEvent) return settleAccepted(deps.db, { message, waMessageId, at })
  const report = { waMessageId, status: 'sent', at, error: undefined } as const
  await applyStatuses(deps, [{ accountId: message.accountId, messageId: message.id, waMessageId, report }])
}

async function persistLater(
  deps: Pick<Deps, 'log' | 'journal'>,
  messageId: string,
  write: () => Promise<boolean>,
): Promise<void> {
  for (const milliseconds of retryMilliseconds) {
    await delay(milliseconds, undefined, { ref: false })
    try {
      if (!(await write())) continue
      deps.journal.settled(messageId)
      deps.log.info({ messageId }, 'the message is settled')
      return
    } catch (error) {
      if (!isTransient(error)) break
    }
  }
  deps.log.error({ messageId }, 'the message could not be settled; it stays pending until its status arrives')
}
