import { once } from 'node:events'
import type { Server } from 'node:net'

/** Listens on a free port and prints the address for the parent process. */
export async function listen(server: Server): Promise<void> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port')
  console.log(`listens on http://127.0.0.1:${address.port}`)
}
