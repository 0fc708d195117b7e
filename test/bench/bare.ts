/** Process: the minimum cost of a Node.js server. Reads the JSON body and returns the response of the route. */
import { createServer } from 'node:http'
import { sendMessage } from '../../contracts/api/message.ts'
import { listen } from './socket-server.ts'

const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.once('end', () => {
    JSON.parse(Buffer.concat(chunks).toString())
    const text = JSON.stringify({ success: true, data: sendMessage.example.output })
    response
      .writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(text) })
      .end(text)
  })
})

await listen(server)
