import { OperatorError } from '../account/operator-error.ts'
import type { Deps } from '../deps.ts'
import { resolvePending } from './settle-store.ts'
import { findMessage } from './store.ts'

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
  if (!message) throw new OperatorError(`There is no message ${JSON.stringify(messageId)}.`)
  if (message.status !== 'pending')
    throw new OperatorError(`Message ${messageId} is ${message.status}: only a pending message can be resolved.`)
  throw new OperatorError(
    `The send of message ${messageId} may still be running. Try again a minute after it was recorded (${message.created_at.toISOString()}).`,
  )
}
