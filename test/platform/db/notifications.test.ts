import { sql } from 'kysely'
import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import {
  createLocalNotifications,
  createNotifications,
  type Notifications,
} from '../../../src/platform/db/notifications.ts'
import { openGate } from '../../cluster/gate.ts'
import { openTestDatabase } from '../../support/database.ts'
import { forFile } from '../../support/lifetime.ts'

const database = await forFile(openTestDatabase())

function open(url = database.url ?? ''): Notifications {
  return createNotifications({ kind: 'postgres', url }, database.db, pino({ level: 'silent' }))
}

test.each([
  { where: 'in one process', create: createLocalNotifications },
  { where: 'on PostgreSQL', create: () => open() },
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

test('closes even if PostgreSQL does not respond', async () => {
  const url = new URL(database.url ?? '')
  await using gate = await openGate(Number(url.port), url.hostname)
  url.host = `127.0.0.1:${gate.port}`
  const notifications = open(url.href)
  const listener = vi.fn<() => void>()
  notifications.listen('deliveries', listener)
  await expect.poll(() => listener).toHaveBeenCalledTimes(1)

  gate.close()
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
