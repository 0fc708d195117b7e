import { expect, test } from 'vitest'
import type { StoredMessage } from '../../../src/messages/message.ts'
import { describeRejection, toSentMessage, unknownOutcome } from '../../../src/messages/send/responses.ts'
import { replay } from '../../../src/messages/send/idempotency.ts'
import { sentMessageAt } from '../../support/stored-messages.ts'

const at = new Date('2026-11-20T12:00:00Z')
const requestHash = Uint8Array.of(1, 2, 3)
const request = { key: 'order-1', requestHash }

const sent = sentMessageAt(at)
const pending: StoredMessage = { ...sent, status: 'pending', waMessageId: null, sentAt: null }
const rejected: StoredMessage = {
  ...pending,
  status: 'failed',
  failedAt: at,
  errorCode: '999999',
  errorMessage: 'Recipient is not valid',
}

function replayOf(
  message: StoredMessage,
  { runningSeconds, hash = requestHash }: { runningSeconds?: number; hash?: Uint8Array } = {},
) {
  return replay({ requestHash: hash, runningSeconds, message }, request)
}

const response = {
  messageId: 'msg_1',
  waMessageId: 'wamid.x',
  status: 'sent',
  to: '34600111222',
  template: 'order_shipped',
}

test.each([
  { what: 'a message that was sent', message: sent, response },
  { what: 'a message that was delivered since', message: { ...sent, status: 'delivered' as const }, response },
  {
    what: 'an accepted message that failed later',
    message: { ...sent, status: 'failed' as const, failedAt: at, errorCode: '131026' },
    response,
  },
  {
    what: 'an external ID',
    message: { ...sent, externalId: 'order-1042' },
    response: { ...response, externalId: 'order-1042' },
  },
  {
    what: 'a message that an operator found sent',
    message: { ...pending, status: 'sent' as const, sentAt: at },
    response: { ...response, waMessageId: '' },
  },
  {
    what: 'a message that a status webhook settled before the response was stored',
    message: { ...pending, waMessageId: 'wamid.x' },
    response,
  },
])('returns the response of the first request to a retry with $what', ({ message, response }) => {
  expect(replayOf(message)).toEqual(response)
  expect(replayOf(message, { runningSeconds: 1 })).toEqual(response)
})

test.each([
  { what: 'a code and a reason', change: {}, text: 'WhatsApp rejected this message (999999): Recipient is not valid' },
  {
    what: 'a code that we know',
    change: { errorCode: '131049' },
    text: 'WhatsApp rejected this message (131049): Recipient is not valid. Do not retry soon',
  },
  { what: 'no code', change: { errorCode: null }, text: 'WhatsApp rejected this message: Recipient is not valid' },
  {
    what: 'an empty reason',
    change: { errorMessage: '' },
    text: 'WhatsApp rejected this message (999999): no reason was given',
  },
  {
    what: 'a wamid',
    change: { waMessageId: 'wamid.x' },
    text: 'WhatsApp reported that this message failed (999999): Recipient is not valid',
  },
])('repeats a rejection with $what', ({ change, text }) => {
  expect(() => replayOf({ ...rejected, ...change })).toThrow(
    expect.objectContaining({ code: 'MESSAGE_REJECTED', message: expect.stringContaining(text), replayed: true }),
  )
})

test.each([
  { runningSeconds: 0.2, retryAfterSeconds: 1 },
  { runningSeconds: 8.3, retryAfterSeconds: 9 },
  { runningSeconds: 30, retryAfterSeconds: 30 },
  { runningSeconds: 51.5, retryAfterSeconds: 9 },
  { runningSeconds: 59.9, retryAfterSeconds: 1 },
  // The clock was set back.
  { runningSeconds: -20, retryAfterSeconds: 1 },
])('rejects a key whose first request has run for $runningSeconds s', ({ runningSeconds, retryAfterSeconds }) => {
  expect(() => replayOf(pending, { runningSeconds })).toThrow(
    expect.objectContaining({
      code: 'IDEMPOTENCY_KEY_IN_USE',
      message: 'The first request with this Idempotency-Key is still running. Try again in a moment.',
      retryAfterSeconds,
      replayed: false,
    }),
  )
})

test('reports the unknown outcome of a request that ended without a response', () => {
  expect(() => replayOf(pending)).toThrow(
    expect.objectContaining({
      code: 'SEND_OUTCOME_UNKNOWN',
      message: expect.stringMatching(
        /^The connection to WhatsApp broke, or this service was interrupted, .* so message msg_1 may have been sent\. .* A retry with the same Idempotency-Key never sends twice; one without it may\.$/,
      ),
      replayed: true,
    }),
  )
})

test('reports an unknown outcome of the first request as not replayed', () => {
  expect(unknownOutcome('msg_1', 'WhatsApp did not answer')).toMatchObject({
    message: expect.stringMatching(/^WhatsApp did not answer, so message msg_1 /),
    replayed: false,
  })
})

test.each([
  {
    what: 'another request body',
    hash: Uint8Array.of(1, 2, 4),
    message: 'This Idempotency-Key was used with another request body. Use a new key for a new message.',
  },
  {
    what: 'the beginning of the fingerprint',
    hash: Uint8Array.of(1, 2),
    message: 'This Idempotency-Key was used with another request body. Use a new key for a new message.',
  },
  {
    what: 'a recipient that was erased',
    hash: new Uint8Array(),
    message:
      'The recipient of the first request with this Idempotency-Key was erased. Use a new key for a new message.',
  },
])('rejects a key of $what in any state of its message', ({ hash, message }) => {
  for (const earlier of [sent, pending, rejected])
    expect(() => replayOf(earlier, { hash })).toThrow(
      expect.objectContaining({ code: 'IDEMPOTENCY_KEY_REUSED', message, replayed: false }),
    )
})

test('accepts any of the fingerprints from before the rotation of the server key', () => {
  const earlier = { requestHash, message: sent }
  const rotated = { key: 'order-1', requestHash: Uint8Array.of(9), earlierHashes: [Uint8Array.of(8), requestHash] }
  expect(replay(earlier, rotated)).toEqual(response)
  expect(() => replay(earlier, { ...rotated, earlierHashes: [Uint8Array.of(8)] })).toThrow('another request body')
})

test('describes what WhatsApp rejected without a code or a reason', () => {
  expect(describeRejection(null, null)).toBe('WhatsApp rejected this message: no reason was given.')
})

test('shows a sent message without an external ID', () => {
  expect(toSentMessage(sent, 'wamid.y')).toEqual({ ...response, waMessageId: 'wamid.y' })
})
