import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'

export interface SocketRequest {
  method: string
  path: string
}

/** `respond` may be called immediately or later; the body of the response is JSON. */
type OnRequest = (request: SocketRequest, respond: (json: string) => void) => void

/**
 * A minimal HTTP server for the unmeasured processes, since they share the machine with the measured ones: half the
 * cost of `node:http`. It reads only the first line and the `Content-Length` of a request. A connection carries one
 * request at a time.
 */
export function createSocketServer(onRequest: OnRequest): Server {
  return createServer({ noDelay: true }, (socket) => {
    let received: Buffer | undefined
    socket.on('data', (chunk: Buffer) => {
      const bytes = received ? Buffer.concat([received, chunk]) : chunk
      const request = readRequest(bytes)
      received = request ? undefined : bytes
      if (request) onRequest(request, (json) => write(socket, json))
    })
    // A connection that closes early is not a failure; every load ends that way.
    socket.on('error', () => socket.destroy())
  })
}

/** Undefined until the whole request has arrived. */
function readRequest(bytes: Buffer): SocketRequest | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const head = bytes.toString('latin1', 0, headEnd)
  if (/\r\ntransfer-encoding:/i.test(head)) throw new Error('chunked requests are not supported')
  const contentLength = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
  if (bytes.length < headEnd + 4 + contentLength) return undefined
  const [method = '', path = ''] = head.slice(0, head.indexOf('\r\n')).split(' ')
  return { method, path }
}

function write(socket: Socket, json: string): void {
  const length = Buffer.byteLength(json)
  socket.write(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\nconnection: keep-alive\r\n\r\n${json}`,
  )
}

/** Listens on a free port and prints the address for the parent process. */
export async function listen(server: Server): Promise<void> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port')
  console.log(`listens on http://127.0.0.1:${address.port}`)
}
