import type { Socket } from 'node:net'

/** The first line that comes in; undefined when the other end closes before it is whole. */
export function readLine(socket: Socket): Promise<string | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>()
  let text = ''
  socket.setEncoding('utf8')
  socket.on('data', (chunk: string) => {
    text += chunk
    const end = chunk.includes('\n') ? text.indexOf('\n') : -1
    if (end >= 0) resolve(text.slice(0, end))
  })
  socket.on('error', reject)
  socket.on('close', () => resolve(undefined))
  return promise
}
