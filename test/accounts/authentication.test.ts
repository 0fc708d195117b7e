import { duplexPair } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { sendMessage } from '../../contracts/api/message.ts'
import { updateAccount } from '../../src/accounts/account.ts'
import { regenerateKey, revokeKey } from '../../src/accounts/api-key.ts'
import { setAllowList } from '../../src/accounts/ip-allow-list.ts'
import { createServer } from '../../src/http/server.ts'
import { startHeldNode } from '../support/held-node.ts'
import { forFile } from '../support/lifetime.ts'
import { nodeForTest, startTestServer, through } from '../support/server.ts'

const path = '/api/v1/message/send'
const example = sendMessage.example.input
const json = { 'content-type': 'application/json' }

const server = await forFile(startTestServer({ server: { trustedProxies: ['127.0.0.1'] } }))

test('rejects a request without a key and names the header', async () => {
  const response = await server.request('POST', path, { headers: json, body: JSON.stringify(example) })
  expect(response.statusCode).toBe(401)
  expect(response.json()).toEqual({
    success: false,
    error: { code: 'INVALID_API_KEY', message: 'An API key is required: send it in the X-API-Key header.' },
  })
})

test.each(['nonsense', `wb_live_${'0'.repeat(64)}`, 'x'.repeat(5000), "' or 1=1 --", 'ключ'])(
  'rejects the unknown key %j',
  async (key) => {
    const response = await server.request('POST', path, {
      headers: { ...json, 'x-api-key': Buffer.from(key).toString('latin1') },
      body: JSON.stringify(example),
    })
    expect(response.statusCode).toBe(401)
    expect(response.json()).toEqual({ success: false, error: { code: 'INVALID_API_KEY', message: 'Invalid API key.' } })
  },
)

test.each([
  'wb_live_',
  `wb_live_${'0'.repeat(63)}`,
  `wb_live_${'0'.repeat(65)}`,
  `wb_live_${'g'.repeat(64)}`,
  `wb_test_${'0'.repeat(64)}`,
  ` wb_live_${'0'.repeat(64)}x`,
])('rejects the malformed key %j without a database statement', async (key) => {
  const { node, hold, held, release } = await startHeldNode(server)
  hold()
  for (const to of ['/api/v1/message', '/trpc/message.list']) {
    const response = await node.request('GET', to, { headers: { 'x-api-key': key } })
    expect(response.statusCode).toBe(401)
    expect(response.text).toContain('Invalid API key.')
  }
  expect(held()).toBe(0)
  // A well-formed key is looked up.
  const lookedUp = node.request('GET', '/api/v1/message', { headers: { 'x-api-key': `wb_live_${'0'.repeat(64)}` } })
  await expect.poll(held).toBe(1)
  release()
  expect((await lookedUp).statusCode).toBe(401)
})

test('authenticates a request before validating it', async () => {
  const response = await server.request('POST', path, { headers: { ...json, 'x-api-key': 'unknown' }, body: '{broken' })
  expect(response.json().error.code).toBe('INVALID_API_KEY')
})

test('rejects the old key on every node after regeneration', async () => {
  const node = await nodeForTest(server)
  const account = await server.account()
  expect((await through(node, account).post(path, example)).statusCode).toBe(200)

  const { apiKey } = await regenerateKey(server.deps, account.accountId)

  expect((await through(node, account).post(path, example)).statusCode).toBe(401)
  expect((await account.post(path, example)).statusCode).toBe(401)
  expect((await through(node, { ...account, apiKey }).post(path, example)).statusCode).toBe(200)
})

test('rejects a revoked key', async () => {
  const account = await server.account()
  await revokeKey(server.deps, account.accountId)
  expect((await account.post(path, example)).json().error.code).toBe('INVALID_API_KEY')
})

test('rejects requests with API_DISABLED while API access is disabled', async () => {
  const account = await server.account()
  await updateAccount(server.deps, account.accountId, { apiEnabled: false })
  const off = await account.post(path, example)
  expect(off.statusCode).toBe(403)
  expect(off.json().error.code).toBe('API_DISABLED')

  await updateAccount(server.deps, account.accountId, { apiEnabled: true })
  expect((await account.post(path, example)).statusCode).toBe(200)
})

test.each([
  { list: [], from: '203.0.113.9', allowed: true },
  { list: ['203.0.113.9'], from: '203.0.113.9', allowed: true },
  { list: ['203.0.113.9'], from: '203.0.113.10', allowed: false },
  { list: ['203.0.113.0/24'], from: '203.0.113.10', allowed: true },
  { list: ['203.0.113.0/24'], from: '203.0.114.10', allowed: false },
  { list: ['203.0.113.9'], from: '::ffff:203.0.113.9', allowed: true },
  { list: ['::ffff:203.0.113.9'], from: '203.0.113.9', allowed: true },
  { list: ['::ffff:203.0.113.0/120'], from: '203.0.113.77', allowed: true },
  { list: ['2001:db8::/32'], from: '2001:db8:1::1', allowed: true },
  { list: ['2001:db8::/32'], from: '2001:db9::1', allowed: false },
  { list: ['0.0.0.0/0'], from: '2001:db8::1', allowed: false },
  { list: ['192.0.2.1', '2001:db8::1'], from: '2001:DB8:0:0::1', allowed: true },
  { list: ['203.0.113.9'], from: 'unknown', allowed: false },
  { list: ['203.0.113.9'], from: '203.0.113.9%eth0', allowed: false },
  { list: ['203.0.113.9'], from: '::ffff:203.0.113.9%eth0', allowed: false },
  { list: ['203.0.113.9'], from: '::ffff:203.0.113.09', allowed: false },
  { list: ['203.0.113.9'], from: '::ffff:0xcb.0.113.9', allowed: false },
  { list: ['2001:db8::1'], from: '2001:db8::1%eth0', allowed: false },
  { list: ['2001:db8::1'], from: '2001:db8::1%25eth0', allowed: false },
  { list: ['fe80::1'], from: 'fe80::1%eth0', allowed: false },
  { list: ['fe80::/10'], from: 'fe80::1%eth0', allowed: false },
  { list: ['0.0.0.0/0', '::/0'], from: '203.0.113.9%eth0', allowed: false },
])('applies the allow-list $list to a request from $from: $allowed', async ({ list, from, allowed }) => {
  const account = await server.account()
  await setAllowList(server.deps, account.accountId, list)
  const response = await account.post(path, example, { 'x-forwarded-for': from })
  expect(response.json().error?.code).toBe(allowed ? undefined : 'IP_NOT_ALLOWED')
  expect(response.statusCode).toBe(allowed ? 200 : 403)
})

test('names the address that is not on the allow-list, unless it is none', async () => {
  const account = await server.account()
  await setAllowList(server.deps, account.accountId, ['203.0.113.9'])
  const says = async (from: string) =>
    (await account.post(path, example, { 'x-forwarded-for': from })).json().error.message

  expect(await says('::ffff:198.51.100.7')).toMatch(/^Requests from 198\.51\.100\.7 are not allowed: /)
  expect(await says('2001:DB8:0:0::1')).toMatch(/^Requests from 2001:db8::1 are not allowed: /)
  expect(await says('unknown')).toMatch(/^Requests from this address are not allowed: /)
})

test('matches a directly connected link-local client without the name of its network interface', async () => {
  const account = await server.account()
  await setAllowList(server.deps, account.accountId, ['fe80::7'])
  const node = await createServer(server.deps, {
    trustedProxies: [],
    metricsToken: undefined,
    sandbox: true,
    readState: () => 'serving',
  })
  await node.ready()
  const callFrom = async (remoteAddress: string) => {
    const [client, socket] = duplexPair()
    // Node ends the connection by a method that only sockets have.
    node.server.emit('connection', Object.assign(socket, { remoteAddress, destroySoon: () => socket.end() }))
    client.write(`GET /api/v1/message HTTP/1.1\r\nHost: x\r\nX-API-Key: ${account.apiKey}\r\nConnection: close\r\n\r\n`)
    return text(client)
  }

  expect(await callFrom('fe80::7%eth0')).toMatch(/^HTTP\/1\.1 200 /)
  expect(await callFrom('fe80::8%eth0')).toContain('IP_NOT_ALLOWED')
  await node.close()
})

test('ignores X-Forwarded-For from an untrusted proxy', async () => {
  const direct = await nodeForTest(server)
  const account = await server.account()
  await setAllowList(server.deps, account.accountId, ['203.0.113.9'])
  const spoofed = await through(direct, account).post(path, example, { 'x-forwarded-for': '203.0.113.9' })
  expect(spoofed.json().error.code).toBe('IP_NOT_ALLOWED')

  await setAllowList(server.deps, account.accountId, ['127.0.0.1'])
  expect((await through(direct, account).post(path, example)).statusCode).toBe(200)
})

const proxied = await server.account()
await setAllowList(server.deps, proxied.accountId, ['198.51.100.7', '2001:db8::1'])

test.each([
  ['198.51.100.7', 200],
  ['198.51.100.7:51432', 200],
  ['"198.51.100.7:51432"', 200],
  ['198.51.100.7:51432, 127.0.0.1', 200],
  ['198.51.100.7:51432,127.0.0.1:8080', 200],
  ['2001:db8::1', 200],
  ['[2001:db8::1]', 200],
  ['[2001:db8::1]:51432', 200],
  ['"[2001:DB8:0::1]:51432"', 200],
  ['[::ffff:198.51.100.7]:51432', 200],
  ['198.51.100.8:51432', 403],
  ['198.51.100.7:1, 198.51.100.8:2', 403],
  ['[2001:db8::2]:51432', 403],
  ['2001:db8::1:51432', 403],
  ['198.51.100.7:port', 403],
  ['198.51.100.7:123456', 403],
  ['[198.51.100.7', 403],
  ['[2001:db8::1%eth0]:51432', 403],
  ['unknown', 403],
])('takes the address of the caller from X-Forwarded-For: %s', async (forwarded, status) => {
  const response = await proxied.get('/api/v1/message?limit=1', { 'x-forwarded-for': forwarded })
  expect(response.statusCode).toBe(status)
})
