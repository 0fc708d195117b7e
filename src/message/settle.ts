import { setTimeout as delay } from 'node:timers/promises'
import { isDatabaseUnavailable } from '../db/unavailable.ts'
import type { Deps } from '../deps.ts'
import type { Conclusion } from './conclude.ts'
import type { IdempotentRequest } from './idempotency.ts'
import { takeStatuses } from './take-statuses.ts'
import { settleAccepted, settleFailed, type PendingMessage } from './send-store.ts'

/** The times between attempts to settle while the database is away, about ten minutes in all. */
const retryMilliseconds = [100, 250, 500, 1_000, 2_000, ...Array.from({ length: 120 }, () => 5_000)]

/**
 * Writes down what became of the message. When the database is away the caller is answered all the
 * same, since what WhatsApp said is true, and the row is settled as soon as the database is back; if
 * this process ends first it stays `pending` until the status webhook settles it.
 */
export async function settle(
  deps: Pick<Deps, 'db' | 'now' | 'log' | 'newId' | 'randomBytes' | 'announcements'>,
  message: PendingMessage,
  conclusion: Conclusion,
  request: IdempotentRequest | undefined,
): Promise<void> {
  const at = deps.now()
  const write = () => writeConclusion(deps, message, conclusion, request, at)
  try {
    await write()
  } catch (error) {
    deps.log.warn({ err: error, messageId: message.id }, 'a message could not be settled yet; trying again')
    if (isDatabaseUnavailable(error)) void settleLater(deps, message.id, write)
  }
}

async function writeConclusion(
  deps: Pick<Deps, 'db' | 'newId' | 'randomBytes' | 'announcements'>,
  message: PendingMessage,
  conclusion: Conclusion,
  request: IdempotentRequest | undefined,
  at: Date,
): Promise<void> {
  switch (conclusion.kind) {
    case 'sent':
      return settleSent(deps, message, conclusion.waMessageId, at)
    case 'failed':
      return settleFailed(deps.db, message, {
        code: conclusion.code,
        reason: conclusion.reason,
        at,
        releaseKey: conclusion.final ? undefined : request?.key,
      })
    case 'pending':
      return
  }
}

/** When somebody wants to be told, our own answer is taken like WhatsApp's status: with its event. */
async function settleSent(
  deps: Pick<Deps, 'db' | 'newId' | 'randomBytes' | 'announcements'>,
  message: PendingMessage,
  waMessageId: string,
  at: Date,
): Promise<void> {
  if (!message.tellsSent)
    return settleAccepted(deps.db, { accountId: message.accountId, id: message.id, waMessageId, at })
  const report = { waMessageId, status: 'sent', at, error: undefined } as const
  await takeStatuses(deps, [{ accountId: message.accountId, messageId: message.id, waMessageId, report }])
}

async function settleLater(deps: Pick<Deps, 'log'>, messageId: string, write: () => Promise<void>): Promise<void> {
  for (const milliseconds of retryMilliseconds) {
    await delay(milliseconds, undefined, { ref: false })
    try {
      await write()
      deps.log.info({ messageId }, 'the message is settled')
      return
    } catch (error) {
      if (!isDatabaseUnavailable(error)) break
    }
  }
  deps.log.error({ messageId }, 'the message could not be settled; it stays pending until its status arrives')
}
