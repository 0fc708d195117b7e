import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { previewMessage, sendMessage } from '../../../contracts/api/message.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer } from '../../support/server.ts'

// On a busy machine, the bodies of a test take longer than those of clients may.
const server = await forFile(startTestServer({ server: { arrivalMilliseconds: 300_000 } }))

function open(path: string, framing: string, apiKey = 'wrong'): Socket {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1').on('error', () => {})
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${apiKey}\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`,
  )
  return socket
}

async function answerOf(socket: Socket): Promise<string> {
  const [data] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  return data.toString()
}

test.each([
  '/api/v1/message/send',
  '/trpc/message.send',
  '/mcp',
  '/settings/auth/sign-in/email',
  '/settings/trpc/settings.password.requestReset',
])('stops reading a body of %s that arrives in one-byte chunks', async (path) => {
  const socket = open(path, 'Transfer-Encoding: chunked')
  socket.write(`${'1\r\n \r\n'.repeat(2_000)}0\r\n\r\n`)

  const answer = await answerOf(socket)

  expect(answer).toMatch(/^HTTP\/1\.1 413 /)
  expect(answer).toContain('The request body has more than 1,024 chunks.')
})

test.each([
  ['in several packets', (length: number) => `Content-Length: ${length}`, (piece: string) => piece],
  ['in chunks', () => 'Transfer-Encoding: chunked', (piece: string) => `1\r\n${piece}\r\n`],
])('reads a body that arrives %s', async (_how, frame, write) => {
  const account = await server.account()
  const body = JSON.stringify(sendMessage.example.input)
  const socket = open(previewMessage.path, frame(body.length), account.apiKey).setNoDelay()
  for (const [index, piece] of [...body].entries()) {
    socket.write(write(piece))
    // Lets the server read what has been written so far.
    if (index % 20 === 0) await server.request('GET', '/healthz')
  }
  if (frame(0).startsWith('Transfer')) socket.write('0\r\n\r\n')

  expect(await answerOf(socket)).toMatch(/^HTTP\/1\.1 200 /)
})

test('rejects the oldest bodies of a network whose callers have sent too many incomplete ones', async () => {
  const account = await server.account()
  const oldest = open('/mcp', 'Content-Length: 65536')
  oldest.write(Buffer.alloc(40_000))
  await server.request('GET', '/healthz')
  const others = Array.from({ length: 256 }, () => open('/mcp', 'Content-Length: 65536'))
  for (const socket of others) socket.write(Buffer.alloc(40_000))

  expect(await answerOf(oldest)).toMatch(/^HTTP\/1\.1 503 [^]*Retry-After: 1\r\n/i)
  expect((await account.post(previewMessage.path, sendMessage.example.input)).statusCode).toBe(200)
  for (const socket of others) socket.destroy()
})
