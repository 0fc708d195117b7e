import { codeLimits, type sendCode as sendCodeContract } from '../../../contracts/api/code.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import type { InputOf, OutputOf } from '../../../contracts/procedure.ts'
import type { Deps } from '../../deps.ts'
import type { RecordedMessage } from '../message.ts'
import { prepare, type Prepared, type SendCaller } from '../send/prepare.ts'
import { findEarlierRequest } from '../send/idempotency-store.ts'
import {
  type EarlierRequest,
  fingerprintCodeRequest,
  type IdempotentRequest,
  isSameRequest,
  replay,
  type RequestHashes,
} from '../send/idempotency.ts'
import type { SendResult } from '../send/outcome.ts'
import { toSentMessage } from '../send/responses.ts'
import { dispatch, keyInUse, record } from '../send/send.ts'
import { computeCodeMac, generateCode } from './code.ts'
import { refundSend, spendSend } from './limits.ts'
import { type CodeTimes, deleteCode, findCodeTimes, findRecentCode, insertCode } from './store.ts'

/** A retry gets the result of the first request, so that its recipient gets one code. */
export async function sendCode(
  deps: Deps,
  caller: SendCaller,
  input: InputOf<typeof sendCodeContract>,
  idempotencyKey?: string,
): Promise<SentCode> {
  const hashes = fingerprintCodeRequest(idempotencyKey, input, deps.secrets)
  const keyed = idempotencyKey === undefined ? undefined : { key: idempotencyKey, ...hashes }
  const request: CodeRequest = { caller, input, hashes, keyed }
  const earlier = keyed && (await findEarlierRequest(deps.db, caller.accountId, keyed.key))
  if (keyed && earlier) return replayCode(deps, request, keyed, earlier)
  try {
    return await sendNewCode(deps, request)
  } catch (error) {
    const isLimited = error instanceof ServiceError && error.code === 'CODE_LIMIT_EXCEEDED'
    const onItsWay = isLimited ? await findCodeOnItsWay(deps, request) : undefined
    if (!onItsWay) throw error
    return onItsWay
  }
}

/**
 * The code is stored before it is sent, so that it can be checked even if the recipient is fast or the process dies
 * after the send. If nothing was sent, it is deleted, and the previous code is the latest one again.
 */
async function sendNewCode(deps: Deps, { caller, input, hashes, keyed }: CodeRequest): Promise<SentCode> {
  const { accountId } = caller
  const { to, template, language, purpose, clientIp, maxAttempts, expiresInSeconds } = input
  const code = input.code ?? generateCode(input.length, deps.randomBytes)
  const message = { to, template, language, code, externalId: input.externalId, accountId: input.accountId }
  const prepared = await prepare(deps, caller, message)

  const id = deps.newId('otc')
  const mac = computeCodeMac(deps.secrets, id, code)
  const limits = { maxAttempts, expiresInSeconds }
  const sent = { messageId: prepared.message.id, requestHash: hashes.requestHash }
  const times = await spendSend(deps, accountId, { to, clientIp }, (trx) =>
    insertCode(trx, { accountId, id, to, purpose, mac, ...limits, ...sent }),
  )
  const unsent = { accountId, id, to, clientIp }
  const result = await sendPrepared(deps, caller, prepared, keyed).catch(async (error: unknown) => {
    await deleteUnsent(deps, unsent, { isFinal: false })
    throw error
  })
  // With an unknown outcome, the code may have arrived.
  if (result.kind === 'failed') await deleteUnsent(deps, unsent, { isFinal: result.final })
  if (result.kind !== 'sent') throw result.error
  return toSentCode(prepared.message, result.waMessageId, times)
}

async function sendPrepared(
  deps: Deps,
  caller: SendCaller,
  prepared: Prepared,
  request: IdempotentRequest | undefined,
): Promise<SendResult> {
  if (!(await record(deps, caller, prepared.message, request))) throw keyInUse()
  return dispatch(deps, caller, prepared, request)
}

interface UnsentCode {
  accountId: string
  id: string
  to: string
  clientIp: string | undefined
}

/**
 * Deletes a code that was not sent. The caller gets the error of the send even if this fails; the code then expires. A
 * permanent rejection by WhatsApp still counts, because otherwise the limits would not stop callers who probe
 * numbers.
 */
async function deleteUnsent(
  deps: Deps,
  { accountId, id, ...subjects }: UnsentCode,
  { isFinal }: { isFinal: boolean },
): Promise<void> {
  try {
    await deleteCode(deps.db, accountId, id)
    if (!isFinal) await refundSend(deps, accountId, subjects)
  } catch (error) {
    deps.log.warn({ err: error, accountId }, 'could not delete a one-time code that was not sent; it expires')
  }
}

interface CodeRequest {
  caller: SendCaller
  input: InputOf<typeof sendCodeContract>
  hashes: RequestHashes
  /** Undefined without an `Idempotency-Key`. */
  keyed: IdempotentRequest | undefined
}

type SentCode = OutputOf<typeof sendCodeContract>

const inFlightRetrySeconds = 2

/** Returns the result of the first request with the same `Idempotency-Key`, or throws its error. */
async function replayCode(
  deps: Pick<Deps, 'db'>,
  { caller, input }: CodeRequest,
  keyed: IdempotentRequest,
  earlier: EarlierRequest,
): Promise<SentCode> {
  const { message } = earlier
  caller.onMessage?.(message.id)
  const { accountId } = caller
  const { to, purpose } = input
  const sent = replay(earlier, keyed)
  const times = await findCodeTimes(deps.db, { accountId, to, purpose }, message.id)
  caller.onReplay?.()
  return { ...sent, ...toTimes(times ?? estimateTimes(message, input)) }
}

/**
 * A send was refused because another one came shortly before it. If that was the same request, its caller may have lost
 * the response: returns the code that is on its way. Returns undefined if there is none.
 */
async function findCodeOnItsWay(deps: Pick<Deps, 'db'>, request: CodeRequest): Promise<SentCode | undefined> {
  const { caller, input, hashes, keyed } = request
  const { accountId } = caller
  const earlier = keyed && (await findEarlierRequest(deps.db, accountId, keyed.key))
  if (keyed && earlier) return replayCode(deps, request, keyed, earlier)
  const { to, purpose } = input
  const recent = await findRecentCode(deps.db, { accountId, to, purpose }, codeLimits.secondsBetweenSends)
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

function toSentCode(message: RecordedMessage, waMessageId: string, times: CodeTimes): SentCode {
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
