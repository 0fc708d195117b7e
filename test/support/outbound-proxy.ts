import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, request as httpRequest } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'

/** A forward proxy that connects every request to one server on this machine, whatever its name. */
export interface OutboundProxy {
  url: string
  /** `CONNECT host:port` or `POST http://…`. */
  requests: { line: string; headers: IncomingHttpHeaders }[]
  /** Responds with this status instead of connecting. */
  refuseWith(status: number | undefined): void
  close(): void
}

export async function startOutboundProxy(target: { port: number }): Promise<OutboundProxy> {
  const requests: OutboundProxy['requests'] = []
  const sockets = new Set<Socket>()
  let refusal: number | undefined
  const server = createServer((request, response) => {
    requests.push({ line: `${request.method} ${request.url}`, headers: request.headers })
    const { method, headers, url = '' } = request
    const { pathname, search } = new URL(url)
    const forwarded = httpRequest(
      { host: '127.0.0.1', port: target.port, method, headers, path: pathname + search },
      (answer) => answer.pipe(response.writeHead(answer.statusCode ?? 502, answer.headers)),
    )
    request.pipe(forwarded)
  })
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => {})))
  server.on('connect', (request, socket, head: Buffer) => {
    requests.push({ line: `CONNECT ${request.url}`, headers: request.headers })
    if (refusal !== undefined) return void socket.end(`HTTP/1.1 ${refusal} No\r\nContent-Length: 0\r\n\r\n`)
    const upstream = connect(target.port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.write(head)
      upstream.pipe(socket).pipe(upstream)
    })
    sockets.add(upstream.on('error', () => {}))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    refuseWith: (status) => (refusal = status),
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
