import { afterEach, expect, test } from 'vitest'
import { checkNow } from '../../src/whatsapp-accounts/health/check.ts'
import { findWhatsAppAccounts } from '../../src/whatsapp-accounts/store.ts'
import { failWith } from '../../src/whatsapp/simulator/errors.ts'
import type { SimulatedResponse } from '../../src/whatsapp/simulator/exchange.ts'
import { startServe } from '../support/process.ts'
import { openScene } from './scene.ts'

const { simulator, environment, app, apiKey, accountId } = await openScene({}, ({ templates }) =>
  templates.add({
    name: 'autumn_offer',
    language: 'en',
    category: 'MARKETING',
    components: [{ type: 'BODY', text: 'Everything for less.' }],
  }),
)
for (const { id } of await findWhatsAppAccounts(app.deps.db, accountId))
  await checkNow(app.deps, { accountId, whatsAppAccountId: id })
afterEach(() => simulator.intercept(undefined))

const offer = { to: '34600111222', template: 'autumn_offer', language: 'en' }

function sendsTo(edge: string): number {
  return simulator.requests.filter(({ path }) => path.endsWith(`/${edge}`)).length
}

/** Answers the two endpoints; a silent one keeps the connection open. */
function answer(first: SimulatedResponse, second: SimulatedResponse): void {
  simulator.requests.length = 0
  simulator.intercept(({ path }) => {
    if (path.endsWith('/marketing_messages')) return first
    return path.endsWith('/messages') ? second : undefined
  })
}

test.each([
  {
    name: 'before the answer of the first endpoint',
    first: { kind: 'silence' } as const,
    reached: 'marketing_messages',
    sends: [1, 0],
  },
  { name: 'before the answer of the second endpoint', first: failWith(131055), reached: 'messages', sends: [1, 1] },
])('never sends a marketing message twice if the process is killed $name', async ({ name, first, reached, sends }) => {
  answer(first, { kind: 'silence' })
  const headers = { 'idempotency-key': name.replaceAll(' ', '-') }
  const victim = await startServe(environment)
  const lost = victim.send(apiKey, offer, headers).then(
    () => 'answered',
    () => 'lost',
  )
  await expect.poll(() => sendsTo(reached), { interval: 5 }).toBe(1)
  victim.kill('SIGKILL')
  await victim.exited
  expect(await lost).toBe('lost')

  simulator.intercept(undefined)
  const successor = await startServe(environment)
  const retry = () => successor.send(apiKey, offer, headers)
  await expect
    .poll(async () => (await retry()).body.error?.code, { interval: 100 })
    .toMatch(/^(SEND_OUTCOME_UNKNOWN|IDEMPOTENCY_KEY_IN_USE)$/)
  expect([sendsTo('marketing_messages'), sendsTo('messages')]).toEqual(sends)
  successor.kill('SIGTERM')
  expect(await successor.exited).toEqual({ code: 0, signal: null })
})
