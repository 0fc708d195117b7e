import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendMessage } from '../../contracts/api/message.ts'
import { startTestServer, type TestAccount, type TestServer } from '../support/server.ts'

/** End to end: sent through the server, reported by the simulator like Meta, and emitted as events. */

let server: TestServer
let account: TestAccount
beforeAll(async () => {
  server = await startTestServer()
  account = await server.account()
  server.simulator.reportTo({ url: `${server.url}/webhooks/whatsapp`, appSecret: 'test-app-secret' })
})
afterAll(() => server.close())

interface Found {
  messageId: string
  status: string
}

async function find(externalId: string): Promise<Found | undefined> {
  const response = await account.get(`/api/v1/message?externalId=${externalId}`)
  return (response.json().data['items'] as Found[])[0]
}

async function listEvents(messageId: string): Promise<string[]> {
  const rows = await server.deps.db
    .selectFrom('events')
    .select('type')
    .where('account_id', '=', account.accountId)
    .where('message_id', '=', messageId)
    .orderBy('id')
    .execute()
  return rows.map((row) => row.type.replace('message.', ''))
}

test.each([
  { to: '34600111222', what: 'a message to an ordinary recipient', ends: 'read', events: ['delivered', 'read'] },
  { to: '15558000001', what: 'a message that is never read', ends: 'delivered', events: ['delivered'] },
  { to: '15558000002', what: 'a message that is read immediately', ends: 'read', events: ['read'] },
  { to: '15558000003', what: 'a message that cannot be delivered', ends: 'failed', events: ['failed'] },
  { to: '15558000005', what: 'a message whose statuses arrive in the wrong order', ends: 'read', events: ['read'] },
  {
    to: '15558000006',
    what: 'a message whose statuses arrive three times',
    ends: 'read',
    events: ['delivered', 'read'],
  },
  {
    to: '15558000007',
    what: 'a message that fails on one device only',
    ends: 'delivered',
    events: ['failed', 'delivered'],
  },
  { to: '15559000004', what: 'a message whose response was lost', ends: 'read', events: ['sent', 'delivered', 'read'] },
])('$what ends as $ends', async ({ to, ends, events }) => {
  const externalId = `to-${to}`
  await account.post('/api/v1/message/send', { ...sendMessage.example.input, to, externalId })

  await expect.poll(async () => (await find(externalId))?.status, { timeout: 10_000 }).toBe(ends)
  const message = await find(externalId)
  await expect.poll(() => listEvents(message?.messageId ?? ''), { timeout: 10_000 }).toEqual(events)
})
