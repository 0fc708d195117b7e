import { setTimeout as delay } from 'node:timers/promises'
import type { Deps } from '../../deps.ts'
import { isTransient } from '../../platform/db/errors.ts'
import type { PendingMessage } from '../message.ts'
import type { WhatsAppIdentity } from '../../whatsapp/callbacks/read-identity.ts'
import { isUserId } from '../recipients/plan-identities.ts'
import { canBeOneNumber, toNumberKey } from '../suppressions/number-key.ts'
import { applyStatuses } from '../status/apply-statuses.ts'
import type { IdempotentRequest } from './idempotency.ts'
import type { SendResult } from './outcome.ts'
import { settleAccepted, settleFailed } from './settle-store.ts'

/** The longest delay between attempts to settle a message while the database is unavailable. */
const maxRetryMilliseconds = 5_000

/**
 * Stores the outcome of a send. If the database is unavailable, the caller still gets WhatsApp's response, and the row
 * is settled in the background. If this process ends first, the row stays `pending` until the status webhook settles
 * it.
 */
export function settle(
  deps: SettleDeps,
  message: PendingMessage,
  result: SendResult,
  request: IdempotentRequest | undefined,
): Promise<void> {
  const settlement = { message, result, request, at: deps.now() }
  // Without an async function, which would allocate twice as much.
  return write(deps, settlement).then(
    () => deps.sendJournal.settled(message.id),
    (error: unknown) => writeLater(deps, settlement, error),
  )
}

function writeLater(deps: SettleDeps, settlement: Settlement, error: unknown): void {
  const { id } = settlement.message
  if (!isTransient(error)) return reportUnsettled(deps, id, error)
  warnUnsettled(deps, id, error)
  void persistLater(deps, id, async () => {
    await write(deps, settlement)
    return true
  })
}

type SettleDeps = Pick<
  Deps,
  'db' | 'now' | 'log' | 'newId' | 'randomBytes' | 'notifications' | 'sendJournal' | 'secrets' | 'tracing'
>

/**
 * After this time, an insert whose result was lost has committed or never will: it does nothing ten seconds after it
 * was issued (record-store.ts), and its statement timeout is shorter than the remaining time.
 */
export const maxInsertMilliseconds = 30_000

/**
 * Marks a message as failed that was not sent to WhatsApp, because the outcome of its insert is unknown. The insert may
 * have committed, or may still commit, and must not keep its idempotency key claimed. A missing row is therefore looked
 * up again until no insert can be running.
 */
export async function settleNeverDispatched(
  deps: Pick<Deps, 'db' | 'now' | 'log' | 'sendJournal'>,
  message: PendingMessage,
  request: IdempotentRequest | undefined,
): Promise<void> {
  const at = deps.now()
  // Not of the clock, which can be set while this waits.
  const startedAt = performance.now()
  const fail = async () => {
    const failed = await settleFailed(deps.db, message, { ...neverDispatched, at, releaseKey: request?.key })
    return failed || performance.now() - startedAt > maxInsertMilliseconds
  }
  try {
    if (await fail()) return deps.sendJournal.settled(message.id)
  } catch (error) {
    if (!isTransient(error)) return reportUnsettled(deps, message.id, error)
    warnUnsettled(deps, message.id, error)
  }
  void persistLater(deps, message.id, fail)
}

const neverDispatched = {
  code: 'SERVICE_UNAVAILABLE',
  reason: 'the database became unavailable before the message was sent',
}

function warnUnsettled({ log }: Pick<Deps, 'log'>, messageId: string, error: unknown): void {
  log.warn({ err: error, messageId }, 'a message could not be settled yet; trying again')
}

function reportUnsettled({ log }: Pick<Deps, 'log'>, messageId: string, error: unknown): void {
  log.error({ err: error, messageId }, 'the message could not be settled; it stays pending until its status arrives')
}

interface Settlement {
  message: PendingMessage
  result: SendResult
  request: IdempotentRequest | undefined
  at: Date
}

/**
 * If an endpoint subscribes to `message.sent`, the response is applied like a `sent` status, which emits the event. So is
 * a response with a name of the recipient that the request did not have, which is stored.
 */
function write(deps: SettleDeps, { message, result, request, at }: Settlement): Promise<unknown> {
  switch (result.kind) {
    case 'sent': {
      const { waMessageId, recipient } = result
      if (!message.emitSentEvent && !(recipient && hasNewName(recipient, message.to)))
        return settleAccepted(deps.db, { message, waMessageId, sentAt: at })
      const report = { waMessageId, status: 'sent', at, error: undefined } as const
      const status = { accountId: message.accountId, messageId: message.id, waMessageId, report, recipient }
      return applyStatuses(deps, [status])
    }
    case 'failed': {
      const releaseKey = result.final ? undefined : request?.key
      // If there is no pending row, a status arrived first and is kept.
      return settleFailed(deps.db, message, { code: result.code, reason: result.reason, at, releaseKey })
    }
    case 'pending':
      return Promise.resolve()
  }
}

function hasNewName({ waId }: WhatsAppIdentity, to: string): boolean {
  // Most names are as in the request, and most others are those of user IDs: no key is made for them.
  if (waId === undefined || waId === to) return false
  return isUserId(to) || (canBeOneNumber(waId, to) && toNumberKey(waId) !== toNumberKey(to))
}

/**
 * Until `attempt` succeeds, however long the database is unavailable: no status ever comes for a message that WhatsApp
 * refused. `attempt` returns false if it must be repeated.
 */
async function persistLater(
  deps: Pick<Deps, 'log' | 'sendJournal'>,
  messageId: string,
  attempt: () => Promise<boolean>,
): Promise<void> {
  for (let milliseconds = 100; ; milliseconds = Math.min(2 * milliseconds, maxRetryMilliseconds)) {
    await delay(milliseconds, undefined, { ref: false })
    try {
      if (!(await attempt())) continue
      deps.sendJournal.settled(messageId)
      return deps.log.info({ messageId }, 'the message is settled')
    } catch (error) {
      if (!isTransient(error)) return reportUnsettled(deps, messageId, error)
    }
  }
}
