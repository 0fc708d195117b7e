import { AbortedTransactionError, sql } from 'kysely'
import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { openDatabase } from '../../../../src/platform/db/database.ts'
import { inTransaction, unnamedStatement } from '../../../../src/platform/db/statement.ts'
import { adminUrl, patientSeconds } from '../../../support/database.ts'
import { forTest } from '../../../support/lifetime.ts'
import { run } from '../../../support/postgres.ts'

const readProcess = unnamedStatement<object, { pid: number }>(() => 'select pg_backend_pid() as pid')

async function open() {
  const logged: string[] = []
  const log = pino({ level: 'warn' }, { write: (line) => void logged.push(line) })
  const db = openDatabase({ kind: 'postgres', url: adminUrl(), ...patientSeconds }, log)
  await forTest({ close: () => db.destroy() })
  const processOf = async (on = db) => (await readProcess(on, {}))[0]?.pid ?? 0
  return { db, logged, processOf }
}

test('an idle connection is used again, by statements and transactions', async () => {
  const { db, processOf } = await open()

  const first = await processOf()

  expect(await processOf()).toBe(first)
  expect(await inTransaction(db, processOf)).toBe(first)
  expect(await db.transaction().execute(processOf)).toBe(first)
})

test('a connection that is lost while idle is replaced, and logged', async () => {
  const { logged, processOf } = await open()
  const lost = await processOf()

  await run(adminUrl(), `select pg_terminate_backend(${lost})`)
  await expect.poll(() => logged.join('')).toContain('lost an idle database connection')

  expect(await processOf()).not.toBe(lost)
})

test('a connection that is lost during a statement is not used again', async () => {
  const { db, processOf } = await open()
  const lost = await processOf()

  await expect(sql`select pg_terminate_backend(pg_backend_pid())`.execute(db)).rejects.toThrow('terminating connection')
  await expect(
    inTransaction(db, (trx) => sql`select pg_terminate_backend(pg_backend_pid())`.execute(trx)),
  ).rejects.toThrow('terminating connection')

  expect(await processOf()).not.toBe(lost)
})

test('closes connections that stay idle', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    const { db, processOf } = await open()
    const [used, idle] = await inTransaction(db, async (trx) => [await processOf(trx), await processOf()])
    // The one that was released last is used first.
    expect(await processOf()).toBe(used)

    vi.advanceTimersByTime(10_000)
    expect(await processOf()).toBe(used)
    vi.advanceTimersByTime(10_000)

    const isAlive = async (pid = 0) =>
      (await sql`select from pg_stat_activity where pid = ${pid}`.execute(db)).rows.length > 0
    await expect.poll(() => isAlive(idle)).toBe(false)
    expect(await isAlive(used)).toBe(true)
  } finally {
    vi.useRealTimers()
  }
})

test('a transaction is rolled back if its work or its commit fails', async () => {
  const { db, processOf } = await open()
  await sql`create temporary table written (value int)`.execute(db)
  const first = await processOf()
  const write = (on = db) => sql`insert into written values (1)`.execute(on)
  const count = async () => (await sql`select from written`.execute(db)).rows.length

  const failed = inTransaction(db, async (trx) => {
    await write(trx)
    throw new Error('no')
  })
  await expect(failed).rejects.toThrow('no')
  const aborted = inTransaction(db, async (trx) => {
    await write(trx)
    await sql`select 1 / 0`.execute(trx).catch(() => {})
  })
  await expect(aborted).rejects.toThrow(AbortedTransactionError)

  expect(await processOf()).toBe(first)
  expect(await count()).toBe(0)
})
