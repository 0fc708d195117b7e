import { createHash } from 'node:crypto'
import type { SendMessageRequest, SentMessage } from '../../../contracts/api/message.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import type { SecretBox } from '../../platform/secrets.ts'
import { isEmptyList } from '../../templates/fill/values.ts'
import type { StoredMessage } from '../columns.ts'
import { describeFailure, toSentMessage, unknownOutcome } from './answers.ts'

/** The request that an `Idempotency-Key` belongs to. */
export interface IdempotentRequest {
  key: string
  /** Fingerprint of the request, whatever the order of its fields. */
  requestHash: Uint8Array
  /** What the fingerprint was before the server's key was rotated. */
  earlierHashes?: readonly Uint8Array[]
}

/** The first request with a key, as it stands now. */
export interface EarlierRequest {
  /** Empty if its recipient was erased. */
  requestHash: Uint8Array
  /** It may still be running: it is younger than any send can take. */
  mayBeRunning: boolean
  message: StoredMessage
}

const purpose = 'idempotent request'

/**
 * The fingerprint covers every field of the parsed request. Databases hold hashes of the first six fields, so these
 * keep their place and form; fields that came later follow by name, and a request without any hashes as it always did.
 * With them it is keyed, because they can hold a one-time code, which a plain hash would give away to whoever tries
 * the million codes of six digits.
 */
export function describeRequest(
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

function sortEntries(value: object): [string, unknown][] {
  return Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
}

/** For `JSON.stringify`: the same text for an object, whatever the order of its keys. */
function sortKeys(_: string, value: unknown): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(sortEntries(value))
    : value
}

/**
 * The answer to a retry: the outcome of the first request, also when a status webhook settled it
 * since. Throws the `ServiceError` that the first request ended in, or why there is no answer yet.
 */
export function replay(earlier: EarlierRequest, request: IdempotentRequest): SentMessage {
  if (earlier.requestHash.length === 0)
    throw new ServiceError(
      'IDEMPOTENCY_KEY_REUSED',
      'The recipient of the first request with this Idempotency-Key was erased. Use a new key for a new message.',
    )
  const hashes = [request.requestHash, ...(request.earlierHashes ?? [])]
  if (!hashes.some((hash) => Buffer.compare(earlier.requestHash, hash) === 0))
    throw new ServiceError(
      'IDEMPOTENCY_KEY_REUSED',
      'This Idempotency-Key was used with another request body. Use a new key for a new message.',
    )
  const { message } = earlier
  if (hasFailedUnaccepted(message))
    throw new ServiceError('MESSAGE_REJECTED', describeFailure(message), { replayed: true })
  if (message.waMessageId !== null) return toSentMessage(message, message.waMessageId)
  // An operator found that it was sent (status/outcome-unknown.ts): nobody knows the wamid, and it must not be sent again.
  if (message.status !== 'pending') return toSentMessage(message, '')
  if (earlier.mayBeRunning)
    throw new ServiceError(
      'IDEMPOTENCY_KEY_IN_USE',
      'The first request with this Idempotency-Key is still running. Try again in a moment.',
      { retryAfterSeconds: 1 },
    )
  throw unknownOutcome(
    message.id,
    'The connection to WhatsApp broke, or this service was interrupted, before an answer of WhatsApp was stored',
    { replayed: true },
  )
}

/**
 * Nobody was ever told that WhatsApp accepted it: neither our own answer nor a `sent` status set
 * `sent_at`. What was accepted stays `sent` for its retries, and a webhook reports its failure.
 */
function hasFailedUnaccepted({ status, sentAt }: StoredMessage): boolean {
  return status === 'failed' && sentAt === null
}
