import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { Connection } from '../../../src/http/limits/connection.ts'

/** A connection with a response of which its client has read some bytes. `pending` are those that it has not read. */
function responding(pending: number) {
  const handle = { bytesWritten: pending, writeQueueSize: pending }
  const socket = Object.defineProperties(new Socket(), {
    writableLength: { get: () => handle.writeQueueSize },
    _handle: { value: handle },
  })
  const read = (bytes: number, written: number) => {
    handle.bytesWritten += written
    handle.writeQueueSize += written - bytes
  }
  return { connection: new Connection(socket, 1), read }
}

test('a connection whose client reads as much as a stream adds is not stalled', () => {
  const { connection, read } = responding(1_000)

  for (let at = 0; at <= 100; at += 10) {
    expect(connection.isStalled(at, 20)).toBe(false)
    read(500, 500)
  }
})

test('a connection whose client reads nothing is stalled, also while responses are added', () => {
  const { connection, read } = responding(1_000)

  expect(connection.isStalled(10, 20)).toBe(false)
  read(0, 500)
  expect(connection.isStalled(20, 20)).toBe(false)
  expect(connection.isStalled(30, 20)).toBe(true)
})
