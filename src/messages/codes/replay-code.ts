import { codeLimits, type sendCode } from '../../../contracts/api/code.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import type { InputOf, OutputOf } from '../../../contracts/procedure.ts'
import type { Deps } from '../../deps.ts'
import type { RecordedMessage } from '../columns.ts'
import { findEarlierRequest } from '../send/idempotency-store.ts'
import {
  type EarlierRequest,
  type IdempotentRequest,
  isSameRequest,
  replay,
  type RequestHashes,
} from '../send/idempotency.ts'
import type { SendCaller } from '../send/caller.ts'
import { toSentMessage } from '../send/responses.ts'
import { keyInUse } from '../send/send.ts'
import { type CodeTimes, findCodeTimes, findRecentCode } from './store.ts'

export interface CodeRequest {
  caller: SendCaller
  input: InputOf<typeof sendCode>
  hashes: RequestHashes
  /** Undefined without an `Idempotency-Key`. */
  keyed: IdempotentRequest | undefined
}

export type SentCode = OutputOf<typeof sendCode>

const inFlightRetrySeconds = 2

/** Returns the result of the first request with the same `Idempotency-Key`, or throws its error. */
export async function replayCode(
  deps: Pick<Deps, 'db'>,
  { caller, input }: CodeRequest,
  keyed: IdempotentRequest,
  earlier: EarlierRequest,
): Promise<SentCode> {
  const { message } = earlier
  caller.onMessage?.(message.id)
  const { accountId } = caller
  const sent = replay(earlier, keyed)
  const times = await findCodeTimes(deps.db, { accountId, ...input }, message.id)
  caller.onReplay?.()
  return { ...sent, ...toTimes(times ?? estimateTimes(message, input)) }
}

/**
 * A send was refused because another one came shortly before it. If that was the same request, its caller may have lost
 * the response: returns the code that is on its way. Returns undefined if there is none.
 */
export async function findCodeOnItsWay(deps: Pick<Deps, 'db'>, request: CodeRequest): Promise<SentCode | undefined> {
  const { caller, input, hashes, keyed } = request
  const { accountId } = caller
  const earlier = keyed && (await findEarlierRequest(deps.db, accountId, keyed.key))
  if (keyed && earlier) return replayCode(deps, request, keyed, earlier)
  const recent = await findRecentCode(deps.db, { accountId, ...input }, codeLimits.secondsBetweenSends)
  if (!recent || !isSameRequest(recent.requestHash, hashes)) return undefined
  // The first request with this key has not recorded its message yet.
  if (keyed) throw keyInUse()
  const { message } = recent
  if (message?.status === 'failed') return undefined
  if (!message || message.waMessageId === null)
    throw new ServiceError(
      'CODE_LIMIT_EXCEEDED',
      `to: a code is on its way to this recipient, and WhatsApp has not accepted it yet. Try again in ${inFlightRetrySeconds} seconds.`,
      { retryAfterSeconds: inFlightRetrySeconds },
    )
  caller.onMessage?.(message.id)
  caller.onReplay?.()
  return toSentCode(message, message.waMessageId, recent)
}

export function toSentCode(message: RecordedMessage, waMessageId: string, times: CodeTimes): SentCode {
  return { ...toSentMessage(message, waMessageId), ...toTimes(times) }
}

/** The code was used, so its row is deleted. */
function estimateTimes({ createdAt }: RecordedMessage, { expiresInSeconds }: CodeRequest['input']): CodeTimes {
  return { createdAt, expiresAt: new Date(createdAt.getTime() + expiresInSeconds * 1000) }
}

function toTimes({ createdAt, expiresAt }: CodeTimes): { expiresAt: string; resendAt: string } {
  const resendAt = new Date(createdAt.getTime() + codeLimits.secondsBetweenSends * 1000)
  return { expiresAt: expiresAt.toISOString(), resendAt: resendAt.toISOString() }
}
