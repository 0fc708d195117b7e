import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { sendMessage } from '../../contracts/api/message.ts'
import { startSimulator } from '../../src/whatsapp/simulator/simulator.ts'
import { png } from '../support/media-files.ts'
import { createInstallation } from '../cli/installation.ts'
import { forFile } from '../support/lifetime.ts'

const simulator = await forFile(startSimulator())
const waybill = await forFile(createInstallation(simulator.url))
// The simulated app is not set up, which a check reports as a warning.
let server = await waybill.serve({ env: { LOG_LEVEL: 'error' } })

async function send(apiKey: string): Promise<{ status: number; body: { data: { messageId: string } } }> {
  const response = await fetch(server.url + sendMessage.path, {
    method: 'POST',
    headers: { 'X-API-Key': apiKey, 'Content-Type': 'application/json' },
    body: JSON.stringify(sendMessage.example.input),
  })
  // Each test names the part of the response it expects.
  return { status: response.status, body: (await response.json()) as { data: { messageId: string } } }
}

test('applies changes made by a command to the next request of a running server', async () => {
  const { accountId } = await waybill.json(['account', 'create', '--name', 'Shop'])
  const { apiKey } = await waybill.json(['key', 'generate', accountId])
  expect(await send(apiKey)).toMatchObject({ status: 400, body: { error: { code: 'NO_ACTIVE_ACCOUNT' } } })

  const add = [
    'whatsapp',
    'add',
    accountId,
    '--phone-number-id',
    simulator.phoneNumberId,
    '--waba-id',
    simulator.wabaId,
  ]
  await waybill.json([...add, '--access-token', '-'], { stdin: `${simulator.accessToken}\n` })
  await waybill.json(['template', 'sync', accountId])
  const sent = await send(apiKey)
  expect(sent).toMatchObject({ status: 200, body: { success: true, data: { status: 'sent' } } })

  const { messageId } = sent.body.data
  expect(await waybill.json(['message', 'get', messageId])).toMatchObject({ messageId, status: 'sent' })
  const listed = await waybill.json(['message', 'list', accountId, '--external-id', 'order-1042'])
  expect(listed.items).toMatchObject([{ messageId }])

  const image = path.join(waybill.dataDir, 'photo.png')
  await writeFile(image, png())
  // The server runs the command if it holds the data folder.
  const uploaded = await waybill.json(['media', 'upload', accountId, path.relative(process.cwd(), image)])
  expect(uploaded).toMatchObject({ kind: 'image', filename: 'photo.png' })
  expect([...simulator.media.values()]).toContainEqual(expect.objectContaining({ type: 'image/png' }))

  await waybill.json(['allow-list', 'set', accountId, '192.0.2.1'])
  expect((await send(apiKey)).status).toBe(403)
  await waybill.json(['allow-list', 'set', accountId])
  await waybill.json(['key', 'regenerate', accountId])
  expect((await send(apiKey)).status).toBe(401)

  const listRequests = async () => (await waybill.json(['request', 'list', accountId])).items
  await expect.poll(async () => (await listRequests()).length).toBe(3)
  expect(await listRequests()).toMatchObject([
    { status: 403, errorCode: 'IP_NOT_ALLOWED' },
    { status: 200, messageIds: [messageId] },
    { status: 400, errorCode: 'NO_ACTIVE_ACCOUNT' },
  ])
})

test('returns the same errors and exit codes as without a server', async () => {
  expect(await waybill.run(['key', 'generate', 'acc_none', '--json'])).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringContaining('There is no account "acc_none"'),
  })
  expect(await waybill.run(['message', 'list', 'acc_none', '--limit', '1000'])).toMatchObject({ exitCode: 1 })
  expect((await waybill.run(['whatsapp', 'add', 'acc_1'])).exitCode).toBe(2)
})

test('runs many concurrent commands', async () => {
  const names = Array.from({ length: 8 }, (_, index) => `At once ${index}`)

  await Promise.all(names.map((name) => waybill.json(['account', 'create', '--name', name], { ownProcess: true })))

  const { items } = await waybill.json(['account', 'list'])
  expect(items.map(({ name }) => name)).toEqual(expect.arrayContaining(names))
})

test('shuts down on SIGTERM and keeps all data for the next server', async () => {
  const before = await waybill.json(['account', 'list'])

  expect(await server.stop('SIGTERM')).toMatchObject({ exitCode: 0, stderr: '' })
  expect(await waybill.json(['account', 'list'])).toEqual(before)
  server = await waybill.serve()

  expect(await waybill.json(['account', 'list'])).toEqual(before)
})
