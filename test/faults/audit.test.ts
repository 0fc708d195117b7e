import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { App } from '../../src/app.ts'
import { listAudit } from '../../src/users/audit/audit.ts'
import { verifyAudit } from '../../src/users/audit/verify.ts'
import { addEndpoint } from '../../src/webhooks/endpoints/change.ts'
import { type Simulator, startSimulator } from '../../src/whatsapp/simulator/simulator.ts'
import { type RunningPostgres, startPostgres } from '../support/postgres.ts'
import { neverRespond, startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'
import { environmentOf, createCustomer, openApp } from './customer.ts'

const entry = path.resolve(import.meta.dirname, '../../src/cli/waybill.js')

let postgres: RunningPostgres
let simulator: Simulator
let receiver: WebhookReceiver
let environment: Record<string, string>
let app: App
let accountId: string
beforeAll(async () => {
  postgres = await startPostgres()
  simulator = await startSimulator()
  receiver = await startWebhookReceiver()
  receiver.behave(neverRespond)
  environment = { ...environmentOf(postgres.url, simulator), WEBHOOK_ALLOW_PRIVATE: 'true' }
  app = openApp(environment)
  ;({ accountId } = await createCustomer(app, simulator))
})
afterAll(async () => {
  await app.close()
  await receiver.close()
  await simulator.stop()
  await postgres.stop()
})

function start(...args: string[]) {
  return spawn(process.execPath, [entry, ...args], {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: 'ignore',
  })
}

async function listed(): Promise<string[]> {
  const { items } = await listAudit(app.deps, { accountId, limit: 100 })
  return items.map(({ what, outcome }) => `${what}: ${outcome}`)
}

test('keeps the start of a killed command with an unknown outcome', async () => {
  const { endpointId } = await addEndpoint(app.deps, accountId, { url: receiver.url })
  const command = start('webhook', 'test', endpointId)
  await expect.poll(() => receiver.received.length).toBe(1)

  command.kill('SIGKILL')
  await once(command, 'exit')

  expect(await listed()).toEqual([`sent a test event to ${endpointId}: started`])
  expect(await verifyAudit(app.deps, accountId)).toMatchObject({ ok: true, entries: 1 })
})

test('appends one unbroken chain from concurrent processes', async () => {
  const commands = Array.from({ length: 6 }, (_, number) => start('allow-list', 'set', accountId, `192.0.2.${number}`))
  await Promise.all(commands.map((command) => once(command, 'exit')))

  expect(commands.map(({ exitCode }) => exitCode)).toEqual(commands.map(() => 0))
  expect((await listed()).filter((action) => /^set the allow-list to .*: done$/.test(action))).toHaveLength(6)
  expect(await verifyAudit(app.deps, accountId)).toMatchObject({ ok: true, entries: 13 })
})
