import { stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { sendMessage } from '../../contracts/api/message.ts'
import { startSimulator } from '../../src/whatsapp/simulator/simulator.ts'
import { startServe } from '../support/process.ts'
import { createCustomer, openApp } from './customer.ts'
import { folderForTest, forFile } from '../support/lifetime.ts'

const simulator = await forFile(startSimulator())

test('keeps every acknowledged send when the process is killed repeatedly', async () => {
  const environment = { WAYBILL_DATA_DIR: await folderForTest(), GRAPH_API_URL: simulator.url }
  const setUp = openApp(environment)
  const { apiKey, accountId } = await createCustomer(setUp, simulator)
  await setUp.close()

  const answered: string[] = []
  for (let round = 0; round < 3; round++) {
    const node = await startServe(environment)
    const sends = Array.from({ length: 40 }, () =>
      node.send(apiKey, sendMessage.example.input).then(
        ({ body }) => body.data && answered.push(body.data.messageId),
        () => {},
      ),
    )
    await expect.poll(() => answered.length, { interval: 1 }).toBeGreaterThan(round * 10)
    node.kill('SIGKILL')
    await Promise.all(sends)
    await node.exited
  }

  const after = openApp(environment)
  const rows = await after.deps.db.selectFrom('messages').select('id').where('account_id', '=', accountId).execute()
  await after.close()
  const stored = new Set(rows.map((row) => row.id))
  expect(answered.length).toBeGreaterThan(0)
  expect(answered.filter((id) => !stored.has(id))).toEqual([])
})

test('flushes the write-ahead log before it acknowledges a send', async () => {
  const folder = await folderForTest()
  const environment = { WAYBILL_DATA_DIR: path.join(folder, 'data'), GRAPH_API_URL: simulator.url }
  const setUp = openApp(environment)
  const { apiKey } = await createCustomer(setUp, simulator)
  await setUp.close()
  const counted = path.join(folder, 'flushes')
  await writeFile(counted, '')
  const preload = pathToFileURL(path.join(import.meta.dirname, 'count-flushes.ts')).href
  const node = await startServe({ ...environment, NODE_OPTIONS: `--import ${preload}`, FLUSHES_FILE: counted })
  const countFlushes = async () => (await stat(counted)).size

  let before = await countFlushes()
  for (let sent = 0; sent < 100; sent++) {
    expect((await node.send(apiKey, sendMessage.example.input)).statusCode).toBe(200)
    const after = await countFlushes()
    // One flush for the record before the call to WhatsApp, one for its outcome.
    expect(after - before).toBeGreaterThanOrEqual(2)
    before = after
  }

  node.kill('SIGTERM')
  await node.exited
})
