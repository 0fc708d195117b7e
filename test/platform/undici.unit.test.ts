import { createServer, type Socket } from 'node:net'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { createAgent, createPool, requestThrough } from '../../src/platform/undici.ts'

const answer = 'HTTP/1.1 200 OK\r\nconnection: keep-alive\r\nkeep-alive: timeout=600\r\ncontent-length: 2\r\n\r\nok'
const serverMilliseconds = 60_000

/** Promises to keep connections for ten minutes, and closes them after one. */
async function startPromisingServer() {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('data', () => socket.write(answer)).setTimeout(serverMilliseconds, () => socket.destroy())
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return { origin: `http://127.0.0.1:${port}`, sockets }
}

test.each([
  { what: 'a pool', open: (origin: string) => createPool(origin, { connect: { timeout: 5_000 } }, undefined) },
  { what: 'an agent', open: () => createAgent() },
])('$what closes an idle connection before the server does, whatever it promised', async ({ open }) => {
  const { origin, sockets } = await startPromisingServer()
  const dispatcher = open(origin)
  onTestFinished(() => dispatcher.close())

  const { body } = await requestThrough(dispatcher, { origin, path: '/', method: 'GET' })
  expect(await body.text()).toBe('ok')
  const [socket] = sockets
  if (!socket) throw new Error('there was no connection')
  // `end` says that the client closed; a server that closes destroys the socket without it.
  const closedBy = await Promise.race([
    once(socket, 'end').then(() => 'client'),
    once(socket, 'close').then(() => 'server'),
  ])

  expect(closedBy).toBe('client')
})
