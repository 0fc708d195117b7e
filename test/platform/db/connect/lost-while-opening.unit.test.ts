import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openDatabase } from '../../../../src/platform/db/database.ts'
import { createLogger } from '../../../../src/platform/log.ts'

/** AuthenticationOk and ReadyForQuery of PostgreSQL's protocol. */
const ready = Buffer.from('5200000008000000005a0000000549', 'hex')

/** Accepts a connection, and resets it on its first statement. */
function acceptAndReset(socket: Socket): void {
  socket.once('data', () => {
    socket.write(ready)
    socket.once('data', () => socket.resetAndDestroy())
  })
  socket.on('error', () => {})
}

test('fails a statement, not the process, if a new connection is reset before it can be used', async () => {
  const server = createServer(acceptAndReset).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const url = `postgres://waybill@127.0.0.1:${port}/waybill`
  const db = openDatabase({ kind: 'postgres', url }, createLogger('fatal'))

  // Vitest fails the test for an error that nobody handles.
  await expect(sql`select 1`.execute(db)).rejects.toThrow(/ECONNRESET|terminated/)

  await db.destroy()
  server.close()
})
