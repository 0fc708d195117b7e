import { setTimeout as delay } from 'node:timers/promises'
import type { Deps } from '../../deps.ts'
import { isTransient } from '../../platform/db/unavailable.ts'
import type { PendingMessage } from '../message.ts'
import { applyStatuses } from '../status/apply-statuses.ts'
import type { IdempotentRequest } from './idempotency.ts'
import type { SendResult } from './outcome.ts'
import { settleAccepted, settleFailed } from './settle-store.ts'

/** The times between attempts to settle while the database cannot, about ten minutes in all. */
const retryMilliseconds = [100, 250, 500, 1_000, 2_000, ...Array.from({ length: 120 }, () => 5_000)]

/**
 * Stores the outcome of the send. When the database is away the caller is answered all the
 * same, since what WhatsApp said is true, and the row is settled as soon as the database is back; if
 * this process ends first it stays `pending` until the status webhook settles it.
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
    await writeConclusion(deps, message, result, request, at)
    return true
  })
}

/**
 * An insert whose answer was lost is committed or gone by then: it refuses itself ten seconds after it left
 * (record-store.ts), and its statement timeout is shorter than the rest.
 */
const longestInsertMilliseconds = 30_000

/**
 * The record of a message failed, so it was not sent to WhatsApp. The insert may have happened all the
 * same, or happen in a moment, and then its idempotency key must not stay claimed: a row that is not
 * there is looked for again until no insert can be under way any more.
 */
export async function settleNeverDispatched(
  deps: Pick<Deps, 'db' | 'now' | 'log' | 'journal'>,
  message: PendingMessage,
  request: IdempotentRequest | undefined,
): Promise<void> {
  const at = deps.now()
  await persist(deps, message.id, async () => {
    const failed = await settleFailed(deps.db, message, { ...neverDispatched, at, releaseKey: request?.key })
    return failed || deps.now().getTime() - at.getTime() > longestInsertMilliseconds
  })
}

const neverDispatched = {
  code: 'SERVICE_UNAVAILABLE',
  reason: 'the database became unavailable before the message was sent',
}

/** `write` says whether nothing is left to do; until then it is tried again, in the background. */
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

async function writeConclusion(
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
      // Without a row to change a status has overtaken us, and stays.
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

/** When somebody wants to be told, our own answer is taken like WhatsApp's status: with its event. */
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
