/**
 * Process: customer servers with problems. It responds after two seconds under `/slow`, with 500 under `/failing`, and
 * never under `/dead`.
 */
import { createServer } from 'node:http'
import { listen } from './socket-server.ts'

const slowMilliseconds = 2_000

const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
  request.resume()
  const [, kind] = request.url?.split('/') ?? []
  if (kind === 'slow') setTimeout(() => response.end('true'), slowMilliseconds)
  else if (kind === 'failing') response.writeHead(500).end()
})

await listen(server)
