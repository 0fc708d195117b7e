import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendMessage } from '../../contracts/message.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

/** What another transaction of the database keeps locked delays nobody who does not need it. */

const example = sendMessage.example.input

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

/** Another program of the operator's that keeps a lock until the end of the block. */
async function lock(url: string, statement: string, values: unknown[] = []): Promise<AsyncDisposable> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('begin')
  await client.query(statement, values)
  return { [Symbol.asyncDispose]: () => client.end() }
}

async function timed<Result>(run: () => Promise<Result>): Promise<{ result: Result; milliseconds: number }> {
  const startedAt = performance.now()
  const result = await run()
  return { result, milliseconds: performance.now() - startedAt }
}

function times<Result>(count: number, run: () => Promise<Result>): Promise<Result[]> {
  return Promise.all(Array.from({ length: count }, run))
}

test('a locked rate limit of one account delays the others once, and fails only its own sends', async (context) => {
  const { url } = server.database
  if (url === undefined) return context.skip()
  const blocked = await server.account()
  const others = await Promise.all([server.account(), server.account(), server.account()])
  const send = (account: typeof blocked) => timed(() => account.post('/api/v1/message/send', example))
  for (const account of [blocked, ...others]) expect((await send(account)).result.statusCode).toBe(200)
  const held = await lock(url, 'select * from rate_limits where account_id = $1 for update', [blocked.accountId])

  // After the first time, less than one statement waits for a lock.
  for (const longest of [2_500, 900, 900]) {
    const refused = times(6, () => send(blocked))
    const answers = await Promise.all(others.map((account) => times(4, () => send(account))))
    for (const { result, milliseconds } of answers.flat()) {
      expect(result.statusCode).toBe(200)
      expect(milliseconds).toBeLessThan(longest)
    }
    for (const { result, milliseconds } of await refused) {
      expect(result.statusCode).toBe(503)
      expect(result.json().error.code).toBe('SERVICE_UNAVAILABLE')
      expect(milliseconds).toBeLessThan(6_000)
    }
  }

  await held[Symbol.asyncDispose]()
  for (const { result } of await times(6, () => send(blocked))) expect(result.statusCode).toBe(200)
})

test('while a table is locked, readiness and reads of others answer, and sends fail within seconds', async (context) => {
  const { url } = server.database
  if (url === undefined) return context.skip()
  const account = await server.account()
  const send = () => timed(() => account.post('/api/v1/message/send', example))
  const list = (limit: number) => timed(() => account.get(`/api/v1/message?limit=${limit}`))
  expect((await send()).result.statusCode).toBe(200)
  const held = await lock(url, 'lock table messages in access exclusive mode')

  const refused: ReturnType<typeof send>[] = []
  const over = new AbortController()
  const load = async () => {
    while (!over.signal.aborted) {
      const calls = [...Array.from({ length: 40 }, send), ...Array.from({ length: 40 }, (_, index) => list(1 + index))]
      refused.push(...calls)
      await Promise.all(calls)
    }
  }
  const loading = load()
  for (let round = 0; round < 20; round++) {
    const ready = await timed(() => server.request('GET', '/readyz'))
    expect(ready.result.statusCode).toBe(200)
    expect(ready.milliseconds).toBeLessThan(1_500)
    const read = await timed(() => account.get('/api/v1/template'))
    expect(read.result.statusCode).toBe(200)
    // The first ones may find all connections waiting for the lock.
    expect(read.milliseconds).toBeLessThan(round === 0 ? 2_500 : 1_500)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  over.abort()
  await loading
  for (const { result, milliseconds } of await Promise.all(refused)) {
    expect(result.statusCode).toBe(503)
    expect(milliseconds).toBeLessThan(8_000)
  }

  await held[Symbol.asyncDispose]()
  for (const { result } of await times(20, send)) expect(result.statusCode).toBe(200)
  for (const { result } of await times(20, () => list(5))) expect(result.statusCode).toBe(200)
  const { rows } = await runQuery(url, `select status, count(*)::integer as count from messages group by status`)
  expect(rows).toEqual([{ status: 'sent', count: expect.any(Number) as number }])
})

async function runQuery(url: string, statement: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await client.query(statement)
  } finally {
    await client.end()
  }
}
