import { createHash } from 'node:crypto'
import type { sendCode } from '../../../contracts/api/code.ts'
import type { SendMessageRequest, SentMessage } from '../../../contracts/api/message.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import type { InputOf } from '../../../contracts/procedure.ts'
import type { SecretBox } from '../../platform/secrets.ts'
import { isEmptyList } from '../../templates/fill/values.ts'
import type { StoredMessage } from '../message.ts'
import { describeFailure, toSentMessage, unknownOutcome } from './responses.ts'

/** Fingerprints of a request, independent of the order of its fields. */
export interface RequestHashes {
  requestHash: Uint8Array
  /** Fingerprints with the server's earlier keys. */
  earlierHashes?: readonly Uint8Array[]
}

/** The request that an `Idempotency-Key` belongs to. */
export interface IdempotentRequest extends RequestHashes {
  key: string
}

/** The first request with a key, in its current state. */
export interface EarlierRequest {
  /** Empty if its recipient was erased. */
  requestHash: Uint8Array
  /** Its age, while it may still be running because it is younger than the longest possible send. */
  runningSeconds?: number | undefined
  message: StoredMessage
}

/** Upper bound for the duration of a send: the upstream deadline plus slack. */
export const maxSendSeconds = 60

const purpose = 'idempotent request'

/**
 * The fingerprint covers every field of the parsed request. Databases contain hashes of the first six fields, so their
 * order and form are fixed. Fields that were added later follow in alphabetical order, and a request without them has
 * the same hash as before. With them, the hash is keyed, because they can contain a one-time code: a plain hash would
 * reveal it to anyone who tries the million codes of six digits.
 */
export function fingerprintRequest(
  key: string,
  input: SendMessageRequest,
  secrets: Pick<SecretBox, 'fingerprints'>,
): IdempotentRequest {
  const { to, template, language, variables = {}, externalId = null, accountId = null, ...later } = input
  const laterEntries = sortEntries(later).filter(([, field]) => !isEmptyList(field))
  const canonical = [to, template, language, sortEntries(variables), externalId, accountId, ...laterEntries]
  const text = JSON.stringify(canonical, sortKeys)
  if (laterEntries.length === 0) return { key, requestHash: createHash('sha256').update(text).digest() }
  const [requestHash, ...earlierHashes] = secrets.fingerprints(text, purpose)
  return { key, requestHash, earlierHashes }
}

/**
 * Covers the `Idempotency-Key`, so that a request without a key never matches one that has a key. The hash is keyed,
 * because the request can contain a code. It leaves out `clientIp`, because the user may have changed the network.
 */
export function fingerprintCodeRequest(
  key: string | undefined,
  input: InputOf<typeof sendCode>,
  secrets: Pick<SecretBox, 'fingerprints'>,
): RequestHashes {
  const text = JSON.stringify(['code.send', key ?? null, sortEntries({ ...input, clientIp: undefined })], sortKeys)
  const [requestHash, ...earlierHashes] = secrets.fingerprints(text, purpose)
  return { requestHash, earlierHashes }
}

export function isSameRequest(hash: Uint8Array, { requestHash, earlierHashes = [] }: RequestHashes): boolean {
  return [requestHash, ...earlierHashes].some((candidate) => Buffer.compare(hash, candidate) === 0)
}

function sortEntries(value: object): [string, unknown][] {
  return Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
}

/** A replacer for `JSON.stringify`, so that the text does not depend on the order of an object's keys. */
function sortKeys(_: string, value: unknown): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(sortEntries(value))
    : value
}

/**
 * Returns the result of the first request to a retry, even if only a status webhook settled it. Throws the
 * `ServiceError` of the first request, or one that says why there is no result yet.
 */
export function replay(earlier: EarlierRequest, request: IdempotentRequest): SentMessage {
  if (earlier.requestHash.length === 0)
    throw new ServiceError(
      'IDEMPOTENCY_KEY_REUSED',
      'The recipient of the first request with this Idempotency-Key was erased. Use a new key for a new message.',
    )
  if (!isSameRequest(earlier.requestHash, request))
    throw new ServiceError(
      'IDEMPOTENCY_KEY_REUSED',
      'This Idempotency-Key was used with another request body. Use a new key for a new message.',
    )
  const { message } = earlier
  if (failedBeforeSent(message))
    throw new ServiceError('MESSAGE_REJECTED', describeFailure(message), {
      replayed: true,
      messageId: message.id,
      failureCode: message.errorCode ?? undefined,
    })
  if (message.waMessageId !== null) return toSentMessage(message, message.waMessageId)
  // An operator resolved it as sent (status/outcome-unknown.ts): the wamid is unknown, but it must not be sent again.
  if (message.status !== 'pending') return toSentMessage(message, '')
  const { runningSeconds } = earlier
  if (runningSeconds !== undefined)
    throw new ServiceError(
      'IDEMPOTENCY_KEY_IN_USE',
      'The first request with this Idempotency-Key is still running. Try again in a moment.',
      { retryAfterSeconds: waitSeconds(runningSeconds) },
    )
  throw unknownOutcome(
    message.id,
    "The connection to WhatsApp broke, or this service was interrupted, before WhatsApp's response was stored",
    { replayed: true },
  )
}

/** Most sends end within a second. One that has run for longer probably runs for as long again. */
function waitSeconds(runningSeconds: number): number {
  const remaining = maxSendSeconds - runningSeconds
  return Math.max(1, Math.ceil(Math.min(runningSeconds, remaining)))
}

/**
 * True if the message failed before anyone learned that WhatsApp had accepted it: neither our own response nor a `sent`
 * status set `sent_at`. A message that failed later stays `sent` for its retries, and a webhook reports its failure.
 */
function failedBeforeSent({ status, sentAt }: StoredMessage): boolean {
  return status === 'failed' && sentAt === null
}
