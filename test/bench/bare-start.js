// Process: the minimum that Node.js needs to listen, in plain JavaScript, because loading TypeScript takes memory too.
import { createServer } from 'node:http'

const server = createServer((_request, response) => response.end())
server.listen(0, '127.0.0.1', () => console.log(`listens on http://127.0.0.1:${server.address().port}`))
