// Process: what Node.js needs to listen, in plain JavaScript, because reading TypeScript takes memory of its own.
import { createServer } from 'node:http'

const server = createServer((_request, response) => response.end())
server.listen(0, '127.0.0.1', () => console.log(`listens on http://127.0.0.1:${server.address().port}`))
