import pg from 'pg'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { openDatabase } from '../../../src/platform/db/database.ts'
import { patientSeconds } from '../../support/database.ts'
import { exampleSend } from '../../support/example-send.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer } from '../../support/server.ts'

/** A lock that another transaction holds must delay only the requests that need it. */

const patient = await forFile(startTestServer())
const location = { kind: 'postgres', url: patient.database.url ?? '' } as const
/** Only locks are waited for as long as in production. */
const db = openDatabase({ ...location, ...patientSeconds, lockTimeoutSeconds: 1 }, pino({ level: 'silent' }))
await forFile({ close: () => db.destroy() })
const server = await forFile(startTestServer({ beside: patient, deps: { db } }))

/** A lock held by another program of the operator until the end of the block. */
async function lock(statement: string, values: unknown[] = []): Promise<AsyncDisposable> {
  const client = new pg.Client({ connectionString: server.database.url })
  await client.connect()
  await client.query('begin')
  await client.query(statement, values)
  return { [Symbol.asyncDispose]: () => client.end() }
}

function times<Result>(count: number, run: (index: number) => Promise<Result>): Promise<Result>[] {
  return Array.from({ length: count }, (_, index) => run(index))
}

test('fails only the sends of an account whose rate limit is locked', async () => {
  const blocked = await server.account()
  const others = await Promise.all([server.account(), server.account(), server.account()])
  const send = (account: typeof blocked) => account.post('/api/v1/message/send', exampleSend)
  for (const account of [blocked, ...others]) expect((await send(account)).statusCode).toBe(200)

  {
    const held = 'select * from rate_limits where account_id = $1 for update'
    await using _lock = await lock(held, [blocked.accountId])
    for (let round = 0; round < 3; round++) {
      const refused = times(6, () => send(blocked))
      const answered = others.flatMap((account) => times(4, () => send(account)))
      for (const { statusCode } of await Promise.all(answered)) expect(statusCode).toBe(200)
      for (const response of await Promise.all(refused)) {
        expect(response.statusCode).toBe(503)
        expect(response.json().error.code).toBe('SERVICE_UNAVAILABLE')
      }
    }
  }

  for (const { statusCode } of await Promise.all(times(6, () => send(blocked)))) expect(statusCode).toBe(200)
})

test('serves readiness and unrelated reads, and fails sends, while a table is locked', async () => {
  const [account, other] = await Promise.all([server.account(), server.account()])
  const send = () => account.post('/api/v1/message/send', exampleSend)
  const list = (limit: number) => account.get(`/api/v1/message?limit=${limit}`)
  expect((await send()).statusCode).toBe(200)

  {
    await using _lock = await lock('lock table messages in access exclusive mode')
    const over = new AbortController()
    const sends: number[] = []
    const reads: number[] = []
    // Always more than the number of connections.
    const loading = times(24, async (index) => {
      while (!over.signal.aborted) {
        sends.push((await send()).statusCode)
        reads.push((await list(1 + index)).statusCode)
      }
    })
    try {
      for (let round = 0; round < 20; round++) {
        expect((await server.request('GET', '/readyz')).statusCode).toBe(200)
        expect((await other.get('/api/v1/template')).statusCode).toBe(200)
      }
      await expect.poll(() => sends.length).toBeGreaterThan(24)
    } finally {
      over.abort()
      await Promise.all(loading)
    }
    expect(new Set(sends)).toEqual(new Set([503]))
    // Reads that wait for the locked table use up the read limit of the account.
    expect([...new Set(reads)].filter((status) => status !== 503 && status !== 429)).toEqual([])
  }

  for (const { statusCode } of await Promise.all(times(20, send))) expect(statusCode).toBe(200)
  // The reads that waited are still charged to the account for a moment.
  await expect.poll(async () => (await list(5)).statusCode).toBe(200)
  for (let n = 0; n < 20; n++) expect((await list(5)).statusCode).toBe(200)
  const states = await server.deps.db.selectFrom('messages').select('status').distinct().execute()
  expect(states).toEqual([{ status: 'sent' }])
})
