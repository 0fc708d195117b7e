import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { sql } from 'kysely'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { sendMessage } from '../../contracts/api/message.ts'
import { noSendJournal } from '../../src/messages/send-journal.ts'
import { fingerprintRequest } from '../../src/messages/send/idempotency.ts'
import { recordPending } from '../../src/messages/send/record-store.ts'
import { readDatabaseClock } from '../../src/platform/db/clock.ts'
import { openDatabase } from '../../src/platform/db/database.ts'
import { openScene } from './scene.ts'

const { postgres, app, accountId } = await openScene()

/** A TCP proxy that can hold back everything after a given word on its way to the database. */
async function startSlowNetwork(to: string): Promise<{ url: string; held(): boolean; release(): void; stop(): void }> {
  const target = new URL(to)
  const sockets: Socket[] = []
  const held: (() => void)[] = []
  const server = createServer((client) => {
    const database = connect(Number(target.port), target.hostname)
    sockets.push(
      client.on('error', () => {}),
      database.on('error', () => {}),
    )
    database.on('data', (bytes) => client.write(bytes))
    let holding = false
    client.on('data', (bytes) => {
      holding ||= bytes.includes('record_many_pending')
      if (holding) held.push(() => database.write(bytes))
      else database.write(bytes)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // A TCP server always has an address of this type.
  const url = new URL(to)
  url.port = String(port)
  return {
    url: url.href,
    held: () => held.length > 0,
    release: () => held.splice(0).forEach((pass) => pass()),
    stop: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

test('ignores an insert that arrives after its caller timed out and frees the key', async () => {
  const network = await startSlowNetwork(postgres.url)
  const db = openDatabase({ kind: 'postgres', url: network.url }, pino({ level: 'silent' }))
  const createdAt = new Date()
  const { to = '', template, language } = sendMessage.example.input
  const message = {
    id: app.deps.newId('msg'),
    accountId,
    whatsAppAccountId: 'wa_1',
    to,
    template,
    language,
    externalId: null,
    createdAt,
    emitSentEvent: false,
  }
  const request = fingerprintRequest('late', sendMessage.example.input, app.deps.secrets)

  const recorded = recordPending(db, { message, request, journal: noSendJournal }).catch((error: unknown) => error)
  await expect.poll(network.held).toBe(true)
  const givenUpAt = (await readDatabaseClock(app.deps.db)).getTime() + 10_000
  expect(await recorded).toBeInstanceOf(Error)
  await expect.poll(async () => (await readDatabaseClock(app.deps.db)).getTime()).toBeGreaterThan(givenUpAt)
  network.release()

  // An idle session has finished the insert.
  await expect
    .poll(async () => {
      const { rows } = await sql<{ count: number }>`
        select count(*)::integer as count from pg_stat_activity where query like '%record_many_pending%'
          and state = 'idle'`.execute(app.deps.db)
      return rows[0]?.count
    })
    .toBe(1)
  expect(await app.deps.db.selectFrom('messages').select('id').where('id', '=', message.id).execute()).toEqual([])
  expect(await app.deps.db.selectFrom('idempotency_keys').select('key').where('key', '=', 'late').execute()).toEqual([])
  network.stop()
  await db.destroy()
})
