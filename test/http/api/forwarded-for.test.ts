import { expect, test } from 'vitest'
import { setAllowList } from '../../../src/accounts/ip-allow-list.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer } from '../../support/server.ts'

const server = await forFile(startTestServer({ server: { trustedProxies: ['loopback'] } }))
const account = await server.account()
await setAllowList(server.deps, account.accountId, ['198.51.100.7', '2001:db8::1'])

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
  const response = await account.get('/api/v1/message?limit=1', { 'x-forwarded-for': forwarded })
  expect(response.statusCode).toBe(status)
})
