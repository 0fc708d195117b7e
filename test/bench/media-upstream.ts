/** Process: a stand-in for the Graph API that accepts files of any size and keeps none. */
import { createServer } from 'node:http'
import { listen } from './socket-server.ts'

let count = 0

await listen(
  createServer((request, response) => {
    request.resume().on('end', () => {
      const body = request.url?.endsWith('/media') === true ? { id: String(++count) } : { data: [] }
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
    })
  }),
)
