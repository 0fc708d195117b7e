import { pino } from 'pino'
import { afterEach, expect, test } from 'vitest'
import { createLocalNotifications } from '../../src/platform/db/notifications.ts'
import { OutboxLoop, retryDelay } from '../../src/platform/outbox-loop.ts'

/** Longer than any test, so that only an announcement or a stop ends the wait. */
const never = { pollMilliseconds: 86_400_000 }

const stops: (() => Promise<void>)[] = []
afterEach(() => Promise.all(stops.splice(0).map((stop) => stop())))

/** Starts to send the given batches, one for each claim. An error instead of a batch fails its claim. */
function startOutbox(batches: (string[] | Error)[], attempt = (_item: string) => Promise.resolve()) {
  const notifications = createLocalNotifications()
  const logged: { level: number; msg: string; err?: { message: string } }[] = []
  const log = pino({ level: 'debug' }, { write: (line) => void logged.push(JSON.parse(line)) })
  const attempted: string[] = []
  let claims = 0
  const loop = new OutboxLoop<string>(
    { notifications, log },
    {
      topic: 'emails',
      name: 'letters that wait',
      claim: async () => {
        claims += 1
        const batch = batches.shift() ?? []
        if (batch instanceof Error) throw batch
        return batch
      },
      attempt: (item) => {
        attempted.push(item)
        return attempt(item)
      },
    },
    never,
  )
  loop.start()
  stops.push(() => loop.stop())
  return {
    attempted,
    logged,
    countClaims: () => claims,
    add: (...added: (string[] | Error)[]) => {
      batches.push(...added)
      notifications.notify('emails')
    },
    stop: (options?: { graceMilliseconds: number }) => loop.stop(options),
  }
}

test('sends batch after batch until none is due', async () => {
  const outbox = startOutbox([['a', 'b'], ['c']])

  await expect.poll(() => outbox.attempted).toEqual(['a', 'b', 'c'])
  await expect.poll(() => outbox.countClaims()).toBe(3)
})

test('sends new items as soon as they are announced', async () => {
  const outbox = startOutbox([])
  await expect.poll(() => outbox.countClaims()).toBe(1)

  outbox.add(['a'])

  await expect.poll(() => outbox.attempted).toEqual(['a'])
})

test('finishes the attempts in progress when it stops, and claims no more', async () => {
  const held = Promise.withResolvers<void>()
  const outbox = startOutbox([['a'], ['b']], () => held.promise)
  await expect.poll(() => outbox.attempted).toEqual(['a'])

  let stopped = false
  const stopping = outbox.stop().then(() => (stopped = true))
  await new Promise(setImmediate)
  expect(stopped).toBe(false)
  held.resolve()
  await stopping

  expect(outbox.attempted).toEqual(['a'])
  expect(outbox.countClaims()).toBe(1)
})

test('stops at the end of the grace even if an attempt does not end, whose failure is then no error', async () => {
  const held = Promise.withResolvers<void>()
  const outbox = startOutbox([['a']], () => held.promise)
  await expect.poll(() => outbox.attempted).toEqual(['a'])

  await outbox.stop({ graceMilliseconds: 1 })
  held.reject(new Error('the database is closed'))

  await expect.poll(() => outbox.logged).toMatchObject([{ level: 20, err: { message: 'the database is closed' } }])
})

test('stops without waiting for the next poll', async () => {
  const outbox = startOutbox([])
  await expect.poll(() => outbox.countClaims()).toBe(1)
  await new Promise(setImmediate)

  await outbox.stop()

  expect(outbox.countClaims()).toBe(1)
})

test.each([
  { cause: 'an unavailable database', code: 'ECONNREFUSED', level: 20 },
  { cause: 'any other error', code: '42703', level: 50 },
])('logs $cause at level $level and sends at the next announcement', async ({ code, level }) => {
  const outbox = startOutbox([Object.assign(new Error('in the way'), { code })])
  await expect.poll(() => outbox.logged).toHaveLength(1)
  expect(outbox.logged).toMatchObject([
    { level, msg: 'could not read or update the letters that wait', err: { message: 'in the way' } },
  ])

  outbox.add(['a'])

  await expect.poll(() => outbox.attempted).toEqual(['a'])
})

test('waits longer after each failure, at most half an hour', () => {
  expect([1, 2, 3, 4, 5, 6, 100].map(retryDelay)).toEqual([10, 60, 300, 900, 1800, 1800, 1800])
})
