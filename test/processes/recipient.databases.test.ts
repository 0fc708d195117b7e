import { expect, test } from 'vitest'
import { sendMessage } from '../../contracts/api/message.ts'
import { startSimulator } from '../../src/whatsapp/simulator/simulator.ts'
import { createInstallation, metaAppSecret } from '../cli/installation.ts'
import { signCallback } from '../../src/whatsapp/callbacks/signature.ts'
import { callbackPath } from '../support/callbacks.ts'
import { findFilesWith } from '../support/find-text.ts'
import { repliesCallback, text, userMessage } from '../support/replies.ts'
import { forFile } from '../support/lifetime.ts'
import { query, run } from '../support/postgres.ts'

const simulator = await forFile(startSimulator())
const waybill = await forFile(createInstallation(simulator.url))
const server = await waybill.serve({ env: { LOG_LEVEL: 'trace' } })

async function addAccount(phoneNumberId: string): Promise<{ accountId: string; apiKey: string }> {
  const { accountId } = await waybill.json(['account', 'create', '--name', 'Shop'])
  const { apiKey } = await waybill.json(['key', 'generate', accountId])
  const ids = ['--phone-number-id', phoneNumberId, '--waba-id', simulator.wabaId]
  await waybill.json(['whatsapp', 'add', accountId, ...ids, '--access-token', '-'], {
    stdin: `${simulator.accessToken}\n`,
  })
  await waybill.json(['template', 'sync', accountId])
  return { accountId, apiKey }
}

async function send(apiKey: string, to: string): Promise<string> {
  const response = await fetch(server.url + sendMessage.path, {
    method: 'POST',
    headers: { 'X-API-Key': apiKey, 'Content-Type': 'application/json', 'Idempotency-Key': `for ${to}` },
    body: JSON.stringify({ ...sendMessage.example.input, to, externalId: `customer ${to}` }),
  })
  const body = (await response.json()) as { data: { messageId: string } }
  expect(response.status).toBe(200)
  return body.data.messageId
}

async function reply(waMessageId: string, from: string, words: string): Promise<void> {
  const message = userMessage(text(words), waMessageId, { from })
  const body = JSON.stringify(repliesCallback(simulator.phoneNumberId, [message]))
  const signature = signCallback(Buffer.from(body), metaAppSecret)
  const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signature }
  expect((await fetch(server.url + callbackPath, { method: 'POST', headers, body })).status).toBe(200)
}

/** The files of the database, and everything else in the data folder. */
async function findStored(text: string): Promise<string[]> {
  const folders = [waybill.dataDir, ...(await findDatabaseFolder())]
  const found = await Promise.all(folders.map((folder) => findFilesWith(folder, text)))
  return found.flat()
}

/** On PostgreSQL: the folder of this database on the server, without the write-ahead log. */
async function findDatabaseFolder(): Promise<string[]> {
  const url = waybill.environment['DATABASE_URL']
  if (url === undefined) return []
  await run(url, 'checkpoint')
  const rows = await query<{ folder: string }>(
    url,
    `select current_setting('data_directory') || '/base/' || oid as folder from pg_database where datname = current_database()`,
  )
  return rows.map(({ folder }) => folder)
}

test('erases a number from the files of a running server', async () => {
  const { accountId, apiKey } = await addAccount(simulator.phoneNumberId)
  const number = '34611000111'
  const messageId = await send(apiKey, number)
  const words = 'I am Maria Lopez, born 1980-02-03'
  const { waMessageId } = (await waybill.json(['message', 'get', messageId])) as unknown as { waMessageId: string }
  await reply(waMessageId, number, words)
  const exported = () => waybill.run(['account', 'export', accountId], { ownProcess: true })
  expect((await exported()).stdout).toContain(words)
  const inBase64 = Buffer.from(`\x1c\x18\x0b${number}`, 'latin1').toString('base64').slice(4, 18)
  await waybill.run(['doctor'])
  expect(await findStored(inBase64)).not.toEqual([])

  const erased = await waybill.run(['recipient', 'erase', `+${number}`, '--rewrite', '--json'])

  expect(erased).toMatchObject({ exitCode: 0, stderr: '' })
  expect(JSON.parse(erased.stdout)).toMatchObject({
    accountIds: [accountId],
    messages: 1,
    rows: { idempotency_keys: 1, messages: 1 },
    replies: 1,
    complete: true,
    rewritten: true,
  })
  expect(await findStored(number)).toEqual([])
  expect(await findStored(inBase64)).toEqual([])
  expect(await findStored(words)).toEqual([])
  expect(await waybill.json(['message', 'get', messageId])).toMatchObject({
    to: 'erased',
    externalId: 'customer erased',
    waMessageId: '',
  })
  const { items } = await waybill.json(['audit', 'list', accountId])
  expect(items[0]).toMatchObject({ who: 'operator', what: 'erased a recipient', outcome: 'done' })
  expect(await waybill.json(['audit', 'verify'])).toMatchObject({ ok: true })
  expect((await exported()).stdout).toMatch(/"kind":"text"\}(?!.*Maria)/s)
  const again = await waybill.run(['recipient', 'erase', number])
  expect(again).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('The recipient is not stored.') })
  const { stderr } = await server.stop()
  expect(stderr).not.toContain(number)
  expect(stderr).not.toContain('Maria')
})

test('rejects an invalid number and an unknown account', async () => {
  expect(await waybill.run(['recipient', 'erase', '600 111 222'])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('RECIPIENT must be the country code followed by the number'),
  })
  expect(await waybill.run(['recipient', 'erase', '34600111222', '--account', 'acc_none'])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('There is no account "acc_none"'),
  })
})
