import { PassThrough } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type BodyLimits, type BodyReceiver, createBodyReceiver } from '../../../src/http/limits/body.ts'

const limits: BodyLimits = {
  maxBytes: 100_000,
  maxHeldBytes: 300_000,
  maxHeldBytesOfAddress: 200_000,
  deadlineMilliseconds: 60_000,
  maxChunks: 50,
}

const toError = (reason: string) => new Error(reason)

/** A body whose chunks the test sends one by one. */
function open(receiver: BodyReceiver, address = '192.0.2.1', length?: number) {
  const source = new PassThrough()
  const received = receiver.receive(source, { address, length })
  const outcome = received.then(
    ({ bytes }) => bytes.length,
    (error: Error) => error.message,
  )
  return { source, received, outcome, write: (bytes: number) => source.write(Buffer.alloc(bytes, 'x')) }
}

test('receives a body in chunks, with and without a Content-Length', async () => {
  const receiver = createBodyReceiver(limits, toError)
  const text = 'abcdefghij'.repeat(1_000)
  for (const length of [text.length, undefined]) {
    const { source, received } = open(receiver, '192.0.2.1', length)
    for (let start = 0; start < text.length; start += 700) source.write(text.slice(start, start + 700))
    source.end()
    expect((await received).bytes.toString()).toBe(text)
  }
})

test('counts a body until it is released', async () => {
  const receiver = createBodyReceiver(limits, toError)
  const { source, received } = open(receiver, '192.0.2.1', 5_000)
  source.end(Buffer.alloc(5_000))
  const { release } = await received
  expect(receiver.heldBytes()).toBe(5_000)
  release()
  release()
  expect(receiver.heldBytes()).toBe(0)
})

test('frees the memory of a discarded body', async () => {
  const receiver = createBodyReceiver(limits, toError)
  const { source, received } = open(receiver)
  for (let piece = 0; piece < 10; piece++) source.write(Buffer.alloc(5_000, 'x'))
  source.end()
  const { bytes, discard } = await received
  expect(bytes).toHaveLength(50_000)
  discard()
  expect(bytes.buffer.byteLength).toBe(0)
  expect(receiver.heldBytes()).toBe(0)
})

test('rejects a body that is too large, even if its Content-Length is not', async () => {
  const receiver = createBodyReceiver(limits, toError)
  for (const length of [10, undefined]) {
    const { outcome, write } = open(receiver, '192.0.2.1', length)
    write(60_000)
    write(60_000)
    expect(await outcome).toBe('too_large')
  }
  expect(receiver.heldBytes()).toBe(0)
})

test('rejects a body with too many chunks', async () => {
  const { outcome, write } = open(createBodyReceiver(limits, toError))
  for (let piece = 0; piece < 60; piece++) {
    write(1)
    await turn()
  }
  expect(await outcome).toBe('too_many_chunks')
})

test('rejects an unfinished body after its timeout or when the sender disconnects', async () => {
  const receiver = createBodyReceiver({ ...limits, deadlineMilliseconds: 30 }, toError)
  const slow = open(receiver)
  slow.write(100)
  const gone = open(receiver)
  gone.write(100)
  await turn()
  gone.source.destroy()
  expect(await gone.outcome).toBe('interrupted')
  expect(await slow.outcome).toBe('too_slow')
  expect(receiver.heldBytes()).toBe(0)
})

test('drops the oldest body of an address that exceeds its memory limit', async () => {
  const receiver = createBodyReceiver(limits, toError)
  const other = open(receiver, '192.0.2.2', 50_000)
  other.write(10_000)
  const stalled = open(receiver, '192.0.2.1', 100_000)
  stalled.write(90_000)
  await turn()
  const genuine = [open(receiver, '192.0.2.1', 90_000), open(receiver, '192.0.2.1', 90_000)]
  for (const { source } of genuine) source.end(Buffer.alloc(90_000))

  expect(await stalled.outcome).toBe('too_many')
  expect(await Promise.all(genuine.map(({ outcome }) => outcome))).toEqual([90_000, 90_000])
  other.source.end(Buffer.alloc(40_000))
  expect(await other.outcome).toBe(50_000)
})

test('drops the oldest body of all addresses that exceed the shared memory limit', async () => {
  const receiver = createBodyReceiver(limits, toError)
  const stalled = Array.from({ length: 4 }, (_, index) => open(receiver, `192.0.2.${index}`, 100_000))
  for (const { write } of stalled) {
    write(70_000)
    await turn()
  }
  const genuine = open(receiver, '192.0.2.99', 90_000)
  genuine.source.end(Buffer.alloc(90_000))

  expect(await genuine.outcome).toBe(90_000)
  expect(await stalled[0]?.outcome).toBe('too_many')
  for (const { source } of stalled) source.destroy()
  expect(await stalled[3]?.outcome).toBe('interrupted')
})

test('rejects a body when received bodies use all memory', async () => {
  const receiver = createBodyReceiver(limits, toError)
  const whole = Array.from({ length: 3 }, (_, index) => open(receiver, `192.0.2.${index}`, 100_000))
  for (const { source } of whole) source.end(Buffer.alloc(100_000))
  const held = await Promise.all(whole.map(({ received }) => received))
  const late = open(receiver, '192.0.2.9')
  late.write(10)
  expect(await late.outcome).toBe('too_many')

  for (const { release } of held) release()
  expect(receiver.heldBytes()).toBe(0)
})
