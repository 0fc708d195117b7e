import { sql } from 'kysely'
import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import {
  createLocalNotifications,
  createNotifications,
  type Notifications,
} from '../../../src/platform/db/notifications.ts'
import { openTestDatabase } from '../../support/database.ts'
import { eventually } from '../../support/eventually.ts'
import { forFile } from '../../support/lifetime.ts'

const database = await forFile(openTestDatabase())

function open(): Notifications {
  return createNotifications({ kind: 'postgres', url: database.url ?? '' }, database.db, pino({ level: 'silent' }))
}

test.each([
  { where: 'in one process', create: createLocalNotifications },
  { where: 'on PostgreSQL', create: open },
])('notifies listeners $where until they stop', async ({ create }) => {
  const notifications = create()
  const listener = vi.fn<() => void>()
  const stop = notifications.listen('deliveries', listener)
  notifications.notify('deliveries')
  expect(listener).toHaveBeenCalled()

  stop()
  listener.mockClear()
  notifications.notify('deliveries')
  expect(listener).not.toHaveBeenCalled()
  await notifications.close()
})

test('notifies other processes and makes them check again after a lost connection', async () => {
  const [here, there] = [open(), open()]
  const listener = vi.fn<() => void>()
  there.listen('deliveries', listener)
  // Notified once it listens.
  await expect.poll(() => listener).toHaveBeenCalledTimes(1)
  here.notify('deliveries')
  await expect.poll(() => listener).toHaveBeenCalledTimes(2)

  await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'waybill listen' and datname = current_database()`.execute(
    database.db,
  )
  await expect.poll(() => listener).toHaveBeenCalledTimes(3)
  here.notify('deliveries')
  await expect.poll(() => listener).toHaveBeenCalledTimes(4)
  await here.close()
  await there.close()
})

async function findListeners(): Promise<number[]> {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity
    where application_name = 'waybill listen' and datname = current_database()`.execute(database.db)
  return rows.map(({ pid }) => pid)
}

// The test stops a process of PostgreSQL, which must run on this machine.
test.skipIf(process.env['TEST_DATABASE_URL'] !== undefined)('closes even if PostgreSQL does not respond', async () => {
  const notifications = open()
  const listener = vi.fn<() => void>()
  notifications.listen('deliveries', listener)
  await expect.poll(() => listener).toHaveBeenCalledTimes(1)
  // Those of the tests before may still be closing.
  const pid = await eventually(async () => {
    const [only, ...others] = await findListeners()
    if (only === undefined || others.length > 0) throw new Error('there is not exactly one listener')
    return only
  })
  onTestFinished(() => void process.kill(pid, 'SIGCONT'))

  process.kill(pid, 'SIGSTOP')
  await notifications.close()
})

test('combines consecutive notifications and never drops the last one', async () => {
  const [here, there] = [open(), open()]
  const listener = vi.fn<() => void>()
  there.listen('deliveries', listener)
  await expect.poll(() => listener).toHaveBeenCalledTimes(1)
  for (let n = 0; n < 1000; n++) here.notify('deliveries')
  await expect.poll(() => listener.mock.calls.length).toBeGreaterThanOrEqual(3)
  await here.close()
  await there.close()
  expect(listener.mock.calls.length).toBeLessThan(20)
})

test('delivers an announcement made right before closing', async () => {
  const [here, there] = [open(), open()]
  const listener = vi.fn<() => void>()
  there.listen('deliveries', listener)
  await expect.poll(() => listener).toHaveBeenCalledTimes(1)
  here.notify('deliveries')
  await here.close()
  await expect.poll(() => listener).toHaveBeenCalledTimes(2)
  await there.close()
})
