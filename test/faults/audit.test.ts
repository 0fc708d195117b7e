import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { expect, test } from 'vitest'
import { listAudit } from '../../src/users/audit/audit.ts'
import { verifyAudit } from '../../src/users/audit/verify.ts'
import { addEndpoint } from '../../src/webhooks/endpoints/change.ts'
import { neverRespond, startWebhookReceiver } from '../support/webhook-receiver.ts'
import { forFile } from '../support/lifetime.ts'
import { openScene } from './scene.ts'

const entry = path.resolve(import.meta.dirname, '../../src/cli/waybill.js')

const receiver = await forFile(startWebhookReceiver())
receiver.behave(neverRespond)
const { environment, app, accountId } = await openScene({ WEBHOOK_ALLOW_PRIVATE: 'true' })

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
