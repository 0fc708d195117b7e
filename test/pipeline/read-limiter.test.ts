import { type KyselyPlugin, sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { previewMessage, sendMessage } from '../../contracts/api/message.ts'
import { errors } from '../../contracts/errors.ts'
import { revokeKey } from '../../src/accounts/api-key.ts'
import { safe } from '../../src/client/client.ts'
import { Pipeline } from '../../src/pipeline/pipeline.ts'
import { createReadLimiter, readLimits, type ReadLimits } from '../../src/pipeline/read-limiter.ts'
import {
  nodeForTest,
  startTestServer,
  type TestAccount,
  type TestResponse,
  type TestServer,
  through,
} from '../support/server.ts'
import { forFile } from '../support/lifetime.ts'
import { accountWithOwner, signedInOwner } from '../support/user.ts'

function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

describe('through the server', () => {
  let server: TestServer
  let account: TestAccount
  beforeAll(async () => {
    server = await startTestServer()
    account = await server.account()
    for (let n = 0; n < 3; n++) await account.post('/api/v1/message/send', sendMessage.example.input)
  })
  afterAll(() => server.close())

  /** Starts a node whose reads of messages wait until they are released. */
  async function startSlowReader(
    readLimiter: Partial<ReadLimits> = {},
  ): Promise<{ node: TestServer; atDatabase: () => number; release: () => void }> {
    const selects = new WeakSet<object>()
    const held = new Set<() => void>()
    let open = false
    const plugin: KyselyPlugin = {
      transformQuery: ({ node, queryId }) => {
        if (node.kind === 'SelectQueryNode' && /"messages"|"owner_invitations"/.test(JSON.stringify(node.from)))
          selects.add(queryId)
        return node
      },
      transformResult: async ({ result, queryId }) => {
        if (selects.has(queryId) && !open) await new Promise<void>((resolve) => held.add(resolve))
        return result
      },
    }
    const { secrets } = server.deps
    const node = await nodeForTest(server, {
      server: { limits: { readLimiter } },
      deps: { db: server.deps.db.withPlugin(plugin), secrets },
    })
    return {
      node,
      atDatabase: () => held.size,
      release: () => {
        open = true
        for (const resolve of held) resolve()
      },
    }
  }

  test('limits the reads of a caller without an account in the same way', async () => {
    const { node, release } = await startSlowReader()
    const path = `/settings/trpc/settings.invitation.get?input=${encodeURIComponent(JSON.stringify({ token: 'x'.repeat(43) }))}`
    const statuses: number[] = []
    const reads = Array.from({ length: 6 }, () =>
      node.request('GET', path).then(({ statusCode }) => void statuses.push(statusCode)),
    )
    await expect.poll(() => statuses).toEqual(Array.from({ length: 6 - readLimits.maxConcurrent }, () => 429))
    release()
    await Promise.all(reads)
    expect(statuses.slice(-readLimits.maxConcurrent)).toEqual([404, 404])
  })

  test('runs a few reads of an account concurrently and queues or rejects the others', async () => {
    const { node, atDatabase, release } = await startSlowReader()
    const caller = through(node, account)
    const reads = Array.from({ length: 12 }, (_, n) => caller.get(n % 2 ? '/api/v1/message' : '/api/v1/message/msg_1'))

    const responses: TestResponse[] = []
    for (const read of reads) void read.then((response) => responses.push(response))
    // Some reads are in the database; all others have a response.
    await expect.poll(() => responses.length).toBe(reads.length - readLimits.maxConcurrent)
    expect(new Set(responses.map(({ statusCode }) => statusCode))).toEqual(new Set([429]))
    const [rejected] = responses
    expect(rejected?.json()).toEqual({
      success: false,
      error: { code: 'RATE_LIMIT_EXCEEDED', message: expect.stringMatching(/Try again in \d+ second/) },
    })
    expect(Number(rejected?.headers['retry-after'])).toBeGreaterThan(0)
    expect(atDatabase()).toBe(readLimits.maxConcurrent)
    const [, error] = await safe(caller.trpc.message.list.query({}))
    expect(error?.data).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', httpStatus: errors.RATE_LIMIT_EXCEEDED.status })
    expect(error?.data?.retryAfterSeconds).toBeGreaterThan(0)

    // The account's previews and sends do not wait for them, nor do other accounts.
    for (const path of [previewMessage.path, sendMessage.path])
      expect((await caller.post(path, sendMessage.example.input)).statusCode).toBe(200)
    const other = through(node, await server.account())
    expect((await other.post(previewMessage.path, sendMessage.example.input)).statusCode).toBe(200)
    release()
    const served = (await Promise.all(reads)).filter(({ statusCode }) => statusCode !== 429)
    expect(served).toHaveLength(readLimits.maxConcurrent)
    for (const { statusCode } of served) expect([200, 404]).toContain(statusCode)
    // The account must first recover the budget that they used.
    await expect.poll(async () => (await caller.get('/api/v1/message')).statusCode).toBe(200)
  })

  test('reads nothing for an API key that was revoked while its read waited', async () => {
    // So that a busy machine rejects no read.
    const patient = { maxWaitMilliseconds: 600_000, maxCreditMilliseconds: 600_000 }
    const { node, atDatabase, release } = await startSlowReader(patient)
    const revoked = await server.account()
    const caller = through(node, revoked)
    const reads = Array.from({ length: readLimits.maxConcurrent }, () => caller.get('/api/v1/message'))
    await expect.poll(atDatabase).toBe(readLimits.maxConcurrent)
    using calls = vi.spyOn(Pipeline.prototype, 'run')
    const waiting = caller.get('/api/v1/message')
    await expect.poll(() => calls.mock.calls.length).toBe(1)

    await revokeKey(server.deps, revoked.accountId)
    release()

    expect((await waiting).statusCode).toBe(401)
    await Promise.all(reads)
  })

  test('never rejects sequential pages', async () => {
    for (let n = 0; n < 100; n++) expect((await account.get('/api/v1/message?limit=1')).statusCode).toBe(200)
  })
})

describe('with a fake clock', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const limits: ReadLimits = {
    maxConcurrent: 2,
    maxWaiting: 4,
    maxWaitMilliseconds: 1_000,
    workPerMillisecond: 1.2,
    maxCreditMilliseconds: 2_000,
  }

  test('never rejects sequential reads, even if they are slow', async () => {
    const reads = createReadLimiter(limits)
    const run = async () => {
      for (let n = 0; n < 100; n++) await reads.run('acc_1', () => wait(5_000))
      return 'done'
    }
    const done = run()
    await vi.advanceTimersByTimeAsync(500_000)
    expect(await done).toBe('done')
    expect(vi.getTimerCount()).toBe(0)
  })

  test('never rejects many concurrent lookups', async () => {
    const reads = createReadLimiter(readLimits)
    const lookups = Promise.all(Array.from({ length: 100 }, (_, n) => reads.run('acc_1', () => wait(10).then(() => n))))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await lookups).toHaveLength(100)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('limits an account to its budget in the long run without slowing others', async () => {
    const reads = createReadLimiter(limits)
    const counts = { heavy: 0, rejected: 0, other: 0 }
    const state = { over: false }
    const repeat = async (accountId: string, count: 'heavy' | 'other') => {
      while (!state.over) {
        try {
          await reads.run(accountId, () => wait(50))
          counts[count] += 1
        } catch {
          counts.rejected += 1
          await wait(1)
        }
      }
    }
    const loops = [...Array.from({ length: 6 }, () => repeat('acc_heavy', 'heavy')), repeat('acc_other', 'other')]
    await vi.advanceTimersByTimeAsync(100_000)
    state.over = true
    await vi.advanceTimersByTimeAsync(2_000)
    await Promise.all(loops)

    // 100 seconds of 1.2 each plus two saved seconds, in reads of 50 milliseconds.
    expect(counts.heavy).toBeGreaterThan(2_300)
    expect(counts.heavy).toBeLessThan(2_500)
    expect(counts.other).toBeGreaterThanOrEqual(1_999)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('forgets an account whose credit is full again', async () => {
    using deletion = vi.spyOn(Map.prototype, 'delete')
    const reads = createReadLimiter(limits)
    const slow = [1, 2].map(() => reads.run('acc_1', () => wait(100)))
    await vi.advanceTimersByTimeAsync(100)
    await Promise.all(slow)
    expect(deletion).not.toHaveBeenCalledWith('acc_1')

    await vi.advanceTimersByTimeAsync(10_000)
    await reads.run('acc_2', () => Promise.resolve())

    expect(deletion).toHaveBeenCalledWith('acc_1')
  })

  test('rejects reads that wait too long or exceed the queue, and frees the slot of a failed one', async () => {
    const reads = createReadLimiter(limits)
    const failing = [1, 2].map(() =>
      reads.run('acc_1', async () => {
        await wait(3_000)
        throw new Error('the database is unavailable')
      }),
    )
    const late = Array.from({ length: 4 }, () => reads.run('acc_1', () => wait(1)))
    const settled = Promise.allSettled([...failing, ...late])
    await expect(reads.run('acc_1', () => wait(1))).rejects.toMatchObject({
      code: 'RATE_LIMIT_EXCEEDED',
      retryAfterSeconds: 1,
    })
    await vi.advanceTimersByTimeAsync(3_000)
    expect((await settled).map((result) => result.status === 'rejected' && String(result.reason))).toEqual([
      ...Array.from({ length: 2 }, () => 'Error: the database is unavailable'),
      ...Array.from({ length: 4 }, () => expect.stringContaining('There are too many concurrent reads')),
    ])
    const next = reads.run('acc_1', () => Promise.resolve('read'))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await next).toBe('read')
  })
})

/** Calls that wait for another of their account are made by a caller who may have lost access meanwhile. */

const server = await forFile(startTestServer({ server: { limits: { workLimiter: { maxConcurrent: 1 } } } }))

/** Runs while a call of the account holds its only place, and ends that call afterwards. */
async function whileOccupied<T>(accountId: string, run: (isWaiting: () => Promise<void>) => Promise<T>): Promise<T> {
  const owner = await signedInOwner(server, accountId)
  using calls = vi.spyOn(Pipeline.prototype, 'run')
  const made = async (count: number) => {
    await expect.poll(() => calls.mock.calls.length).toBe(count)
  }
  const { occupying, result } = await server.deps.db.transaction().execute(async (trx) => {
    // Every change of the account waits for its place in the audit log.
    await sql`select from audit_chains where account_id = ${accountId} for update`.execute(trx)
    const occupying = owner.mutate('publicApi.setAccess', { accountId, enabled: true })
    await made(1)
    return { occupying, result: await run(() => made(2)) }
  })
  await occupying
  return result
}

test('a user who was removed while a call waited changes nothing', async () => {
  const { accountId, owner: removed } = await accountWithOwner(server)

  const { call } = await whileOccupied(accountId, async (isWaiting) => {
    const call = removed.mutate('publicApi.regenerateKey', { accountId })
    await isWaiting()
    await server.deps.db.deleteFrom('owner_sessions').execute()
    return { call }
  })

  expect(await call).toMatchObject({ statusCode: 401, error: { data: { code: 'SIGN_IN_REQUIRED' } } })
})

test('an API key that was revoked while a call waited changes nothing', async () => {
  const account = await server.account()

  const { call } = await whileOccupied(account.accountId, async (isWaiting) => {
    const call = account.post('/api/v1/suppression/add', { to: '34600111222' })
    await isWaiting()
    await revokeKey(server.deps, account.accountId)
    return { call }
  })

  expect((await call).statusCode).toBe(401)
  expect(await server.deps.db.selectFrom('suppressions').selectAll().execute()).toEqual([])
})
