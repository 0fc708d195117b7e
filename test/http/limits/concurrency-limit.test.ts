import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'undici'
import { afterEach, expect, test } from 'vitest'
import { generateApiKey } from '../../../src/accounts/api-key.ts'
import { safe } from '../../../src/client/client.ts'
import { exampleSend } from '../../support/example-send.ts'
import { startHeldNode } from '../../support/held-node.ts'
import { forFile } from '../../support/lifetime.ts'
import { signedInOwner } from '../../support/user.ts'
import type { SimulatedResponse } from '../../../src/whatsapp/simulator/exchange.ts'
import { openSocket } from '../../support/raw-socket.ts'
import { readAtWork, startTestServer, through, nodeForTest } from '../../support/server.ts'

const server = await forFile(startTestServer())
const account = await server.account()
afterEach(() => server.simulator.intercept(undefined))

test('rejects requests beyond its concurrency limit immediately and serves those in progress', async () => {
  const { node, hold, held, release } = await startHeldNode(server, { maxConcurrentRequests: 3 })
  hold()
  const caller = through(node, account)
  const atWork = [1, 2, 3].map(() => caller.post('/api/v1/message/send', exampleSend))
  await expect.poll(held).toBeGreaterThan(0)
  await expect.poll(() => readAtWork(node)).toBe('3')

  const refused = await caller.post('/api/v1/message/send', exampleSend)
  expect(refused.statusCode).toBe(503)
  expect(refused.json()).toEqual({
    success: false,
    error: { code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('busy') },
  })
  expect(refused.headers['retry-after']).toBe('1')
  const [, error] = await safe(caller.trpc.message.send.mutate(exampleSend))
  expect(error?.data).toMatchObject({ code: 'SERVICE_UNAVAILABLE', httpStatus: 503, retryAfterSeconds: 1 })
  expect((await node.request('GET', '/healthz')).statusCode).toBe(200)

  release()
  for (const response of await Promise.all(atWork)) expect(response.statusCode).toBe(200)
  expect((await caller.post('/api/v1/message/send', exampleSend)).statusCode).toBe(200)
  expect((await node.request('GET', '/metrics')).text).toMatch(/^waybill_http_requests_refused_total 2$/m)
})

test('frees the slot of a client that disconnects during the body or the response', async () => {
  const { node, hold, held, release } = await startHeldNode(server, { maxConcurrentRequests: 2 })
  hold()
  const caller = through(node, account)
  for (let n = 0; n < 5; n++) {
    const socket = openSocket(node.url)
    socket.write(
      `POST /api/v1/message/send HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`,
    )
    socket.once('ready', () => setImmediate(() => socket.destroy()))
    await once(socket, 'close')
  }
  const gone = new AbortController()
  const aborted = request(`${node.url}/api/v1/message`, {
    headers: { 'x-api-key': account.apiKey },
    signal: gone.signal,
  })
  await expect.poll(held).toBe(1)
  gone.abort()
  await expect(aborted).rejects.toThrow(/abort/i)
  await expect.poll(() => readAtWork(node)).toBe('0')

  release()
  const served = await Promise.all([1, 2].map(() => caller.get('/api/v1/message')))
  expect(served.map((response) => response.statusCode)).toEqual([200, 200])
})

test('keeps capacity for sends while WhatsApp responds slowly to the setup of numbers', async () => {
  const node = await nodeForTest(server, { server: { maxConcurrentRequests: 2 } })
  const { accountId } = account
  const owner = await signedInOwner(node, accountId)
  let calls = 0
  const dropped = Promise.withResolvers<SimulatedResponse>()
  node.simulator.intercept(({ path }) => {
    if (!/debug_token|subscribed_apps|phone_numbers/.test(path)) return undefined
    calls++
    return dropped.promise
  })
  const waiting: Promise<unknown>[] = []
  const call = async (name: string, input: object) => {
    const before = calls
    waiting.push(owner.mutate(`whatsAppAccount.${name}`, { accountId, ...input }))
    await expect.poll(() => calls - before).toBe(1)
  }
  for (let n = 0; n < 3; n++) await call('inspectToken', { accessToken: 'EAAslow' })
  await call('check', { whatsAppAccountId: account.whatsAppAccountId })
  await expect.poll(() => readAtWork(node)).toBe('0')

  const sent = await through(node, account).post('/api/v1/message/send', exampleSend)

  expect(sent.statusCode).toBe(200)
  const unfinished = Symbol('unfinished')
  expect(await Promise.race([...waiting, Promise.resolve(unfinished)])).toBe(unfinished)
  node.simulator.intercept(undefined)
  dropped.resolve({ kind: 'drop' })
  await Promise.all(waiting)
  expect(await readAtWork(node)).toBe('0')
})

test('rejects the API key with the most requests and accepts others at the limit', async () => {
  const { node, hold, release } = await startHeldNode(server, { maxConcurrentRequests: 8 })
  const [heavy, light] = [through(node, account), through(node, await server.account())]
  for (const caller of [heavy, light])
    expect((await caller.post('/api/v1/message/send', exampleSend)).statusCode).toBe(200)
  hold()
  // A single key may use the whole capacity.
  const ofHeavy = Array.from({ length: 8 }, () => heavy.post('/api/v1/message/send', exampleSend))
  await expect.poll(() => readAtWork(node)).toBe('8')
  expect((await heavy.post('/api/v1/message/send', exampleSend)).statusCode).toBe(503)

  const ofLight = [light.post('/api/v1/message/send', exampleSend), light.post('/api/v1/message/send', exampleSend)]
  await expect.poll(() => readAtWork(node)).toBe('10')
  expect((await heavy.post('/api/v1/message/send', exampleSend)).statusCode).toBe(503)
  // The number accepted beyond the limit is bounded too.
  expect((await light.post('/api/v1/message/send', exampleSend)).statusCode).toBe(503)

  release()
  for (const { statusCode } of await Promise.all([...ofHeavy, ...ofLight])) expect(statusCode).toBe(200)
  await expect.poll(() => readAtWork(node)).toBe('0')
})

test('counts requests with unknown API keys by address', async () => {
  const { node, hold, release } = await startHeldNode(server, { maxConcurrentRequests: 8 })
  const known = through(node, account)
  expect((await known.post('/api/v1/message/send', exampleSend)).statusCode).toBe(200)
  hold()
  const withMadeUpKey = () =>
    node.request('GET', '/api/v1/message', { headers: { 'x-api-key': generateApiKey(randomBytes).apiKey } })
  const madeUp = Array.from({ length: 6 }, withMadeUpKey)
  const ofKnown = [1, 2].map(() => known.post('/api/v1/message/send', exampleSend))
  await expect.poll(() => readAtWork(node)).toBe('8')
  expect((await withMadeUpKey()).statusCode).toBe(503)
  ofKnown.push(known.post('/api/v1/message/send', exampleSend))
  await expect.poll(() => readAtWork(node)).toBe('9')

  release()
  for (const { statusCode } of await Promise.all(madeUp)) expect(statusCode).toBe(401)
  for (const { statusCode } of await Promise.all(ofKnown)) expect(statusCode).toBe(200)
})

test('does not hold a slot while a client sends its body slowly', async () => {
  const node = await nodeForTest(server, { server: { maxConcurrentRequests: 1 } })
  const slow = Array.from({ length: 5 }, () => openSocket(node.url))
  for (const socket of slow) {
    await once(socket, 'connect')
    socket.write(
      `POST /api/v1/message/send HTTP/1.1\r\nHost: x\r\nX-API-Key: ${account.apiKey}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`,
    )
  }
  expect((await through(node, account).post('/api/v1/message/send', exampleSend)).statusCode).toBe(200)
  for (const socket of slow) socket.destroy()
})

test('does not hold a slot while a request waits for WhatsApp', async () => {
  const node = await nodeForTest(server, { server: { maxConcurrentRequests: 1 } })
  const caller = through(node, account)
  const to = '15559000001'
  const slow = caller.post('/api/v1/message/send', { ...exampleSend, to })
  await expect.poll(() => server.simulator.requests.some(({ body }) => JSON.stringify(body).includes(to))).toBe(true)

  expect((await caller.post('/api/v1/message/send', exampleSend)).statusCode).toBe(200)
  expect((await slow).statusCode).toBe(200)
})

test('holds a slot until all calls of a batch have run, even if the client asks for a stream', async () => {
  const { node, hold, held, release } = await startHeldNode(server, { maxConcurrentRequests: 1 })
  hold()
  const batch = JSON.stringify({ 0: exampleSend, 1: { ...exampleSend, to: '34655500012' } })
  const headers = {
    'content-type': 'application/json',
    'x-api-key': account.apiKey,
    'trpc-accept': 'application/jsonl',
  }
  const streamed = node.request('POST', '/trpc/message.send,message.send?batch=1', { headers, body: batch })
  await expect.poll(held).toBeGreaterThan(0)

  expect(await readAtWork(node)).toBe('1')
  expect((await through(node, account).post('/api/v1/message/send', exampleSend)).statusCode).toBe(503)
  release()
  expect((await streamed).text.match(/"messageId":"msg_\w+"/g)).toHaveLength(2)
})

test('rejects a body that is too large with a tRPC error', async () => {
  const response = await account.post('/trpc/message.send', { ...exampleSend, externalId: 'x'.repeat(70_000) })
  expect(JSON.parse(response.text)).toMatchObject({ error: { data: { code: 'PAYLOAD_TOO_LARGE', httpStatus: 413 } } })
})
