import { EventEmitter } from 'node:events'
import type pg from 'pg'
import { expect, test, vi } from 'vitest'
import { SharedPool } from '../../../../src/platform/db/connect/pool.ts'

class Connection extends EventEmitter {
  readonly query: (text: string) => Promise<{ rows: unknown[] }>
  readonly release = vi.fn<() => void>()

  constructor(query: Connection['query']) {
    super()
    this.query = query
  }
}

test('a call that waits for a password uses a connection that is released in the meantime', async () => {
  const [first, password] = [Promise.withResolvers<{ rows: unknown[] }>(), Promise.withResolvers<void>()]
  const query = vi
    .fn<Connection['query']>()
    .mockReturnValueOnce(first.promise)
    .mockResolvedValue({ rows: [2] })
  const connect = vi.fn<() => Promise<Connection>>(() => Promise.resolve(new Connection(query)))
  const pool = Object.assign(new EventEmitter(), { connect, waitingCount: 0 })
  const prepare = vi.fn<() => Promise<void>>().mockResolvedValueOnce().mockReturnValue(password.promise)
  const passwords = { prepare, read: () => Promise.resolve('secret'), reject: () => Promise.resolve() }
  // The parts of a pool that are used.
  const shared = new SharedPool(pool as unknown as pg.Pool, () => Promise.resolve(), passwords, 1_000)

  const running = shared.run('select 1', [])
  await expect.poll(() => query).toHaveBeenCalledTimes(1)
  const waiting = shared.run('select 2', [])
  first.resolve({ rows: [1] })
  expect(await running).toEqual([1])
  password.resolve()

  expect(await waiting).toEqual([2])
  expect(connect).toHaveBeenCalledTimes(1)
  await shared.end()
})
