import { expect, test } from 'vitest'
import { sendMessage } from '../../../contracts/api/message.ts'
import { clockEstimateOf, readDatabaseClock } from '../../../src/platform/db/clock.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer } from '../../support/server.ts'

const server = await forFile(startTestServer())
const account = await server.account()

const hour = 3_600_000

test.each([
  { jump: 'forward by an hour', milliseconds: hour },
  { jump: 'back by an hour', milliseconds: -hour },
])('keeps sending when the database clock is set $jump', async ({ jump, milliseconds }) => {
  const estimate = clockEstimateOf(server.deps.db)
  const send = (n: number) =>
    account.post('/api/v1/message/send', sendMessage.example.input, {
      ...(n % 2 === 0 && { 'idempotency-key': `${jump} ${n}` }),
    })
  for (const sends of [1, 2, 20]) {
    estimate.addSample(Date.now() - milliseconds, performance.now())
    const responses = await Promise.all(Array.from({ length: sends }, (_, n) => send(n)))
    expect(responses.map(({ statusCode }) => statusCode)).toEqual(responses.map(() => 200))
    const off = (await estimate.read(server.deps.db)) - (await readDatabaseClock(server.deps.db)).getTime()
    expect(Math.abs(off)).toBeLessThan(60_000)
  }
})
