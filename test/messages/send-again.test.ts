import { expect, test } from 'vitest'
import type { MessagePage } from '../../contracts/api/message.ts'
import type { sendMessageAgain } from '../../contracts/dashboard/message.ts'
import type { OutputOf } from '../../contracts/procedure.ts'
import { exampleSend } from '../support/example-send.ts'
import { forFile } from '../support/lifetime.ts'
import { accountWithOwner } from '../support/user.ts'
import { startTestServer, type TestAccount } from '../support/server.ts'

const server = await forFile(startTestServer())

type SentAgain = OutputOf<typeof sendMessageAgain>

const variables = { '1': 'Grace', '2': 'WB-2000' }

/** An account with what its owner does in the dashboard. */
async function setUp() {
  const { owner, ...account } = await accountWithOwner(server)
  const { accountId } = account
  const sendAgain = (input: object) => owner.mutate<SentAgain>('message.sendAgain', { accountId, ...input })
  const list = async () => (await owner.query<MessagePage>('message.list', { accountId })).data.items
  return { account, accountId, owner, sendAgain, list }
}

async function send({ trpc }: TestAccount, to = '34600111222'): Promise<string> {
  const sent = await trpc.message.send.mutate({ ...exampleSend, to, externalId: 'order-1' })
  return sent.messageId
}

test('sends a new message like an earlier one and records it in the audit log', async () => {
  const { account, accountId, owner, sendAgain, list } = await setUp()
  const messageId = await send(account)

  const { data } = await sendAgain({ messageId, variables })

  expect(data.status).toBe('sent')
  expect(data.messageId).not.toBe(messageId)
  const [again, first] = await list()
  expect(first?.messageId).toBe(messageId)
  expect(again).toMatchObject({ ...first, messageId: data.messageId, ...timesOf(again) })
  expect(again).toMatchObject({ to: '34600111222', template: 'order_shipped', externalId: 'order-1' })
  const audit = await owner.query<{ items: { what: string }[] }>('audit.list', { accountId })
  expect(audit.data.items[0]?.what).toBe(`sent ${messageId} again`)
})

/** The fields that differ between a message and its repetition. */
function timesOf(message: object | undefined): object {
  const known = new Set(['createdAt', 'sentAt', 'deliveredAt', 'readAt', 'waMessageId', 'status'])
  return Object.fromEntries(Object.entries(message ?? {}).filter(([name]) => known.has(name)))
}

test('requires the variables, which are not stored', async () => {
  const { account, sendAgain, list } = await setUp()
  const messageId = await send(account)

  const response = await sendAgain({ messageId, variables: { '1': 'Grace' } })

  expect(response).toMatchObject({ statusCode: 400, error: { data: { code: 'VALIDATION_ERROR' } } })
  expect(response.error.message).toContain('"2"')
  expect(await list()).toHaveLength(1)
})

test.each([{ to: '34600999999' }, { template: 'other' }, { language: 'es' }, { code: '123456' }, { externalId: 'x' }])(
  'rejects a change of the message: %o',
  async (change) => {
    const { account, sendAgain, list } = await setUp()
    const messageId = await send(account)

    const response = await sendAgain({ messageId, variables, ...change })

    expect(response.statusCode).toBe(400)
    expect(await list()).toHaveLength(1)
  },
)

test('returns the reason when WhatsApp rejects the new message', async () => {
  const { account, sendAgain, list } = await setUp()
  // For this recipient, the simulator returns an HTML page.
  await expect(send(account, '15559000008')).rejects.toThrow('unavailable')
  const [first] = await list()

  const { data } = await sendAgain({ messageId: first?.messageId, variables })

  expect(data).toMatchObject({ status: 'failed', failure: { meaning: expect.stringContaining('Nothing was sent.') } })
  expect(await list()).toHaveLength(2)
})

test('does not send to a recipient who opted out since', async () => {
  const { account, accountId, owner, sendAgain, list } = await setUp()
  await account.template({ name: 'sale', body: 'Hello.', category: 'MARKETING' })
  const { messageId } = await account.trpc.message.send.mutate({ to: '34600111333', template: 'sale', language: 'en' })
  await owner.mutate('suppression.add', { accountId, to: '34600111333' })

  const response = await sendAgain({ messageId })

  expect(response).toMatchObject({ statusCode: 422, error: { data: { code: 'RECIPIENT_SUPPRESSED' } } })
  expect(await list()).toHaveLength(1)
})

test('does not send to an erased recipient', async () => {
  const { account, sendAgain } = await setUp()
  const messageId = await send(account)
  await server.deps.db.updateTable('messages').set({ to_number: 'erased' }).where('id', '=', messageId).execute()

  const response = await sendAgain({ messageId, variables })

  expect(response).toMatchObject({ statusCode: 400, error: { message: expect.stringContaining('erased') } })
})

test('sends while API access is off, since that applies only to requests with the key', async () => {
  const { account, accountId, owner, sendAgain } = await setUp()
  const messageId = await send(account)
  await owner.mutate('publicApi.setAccess', { accountId, enabled: false })

  expect((await account.get('/api/v1/message')).json().error.code).toBe('API_DISABLED')
  const { data } = await sendAgain({ messageId, variables })

  expect(data.status).toBe('sent')
})

test('counts against the rate limit of the API', async () => {
  const { account, accountId, sendAgain } = await setUp()
  const messageId = await send(account)
  await server.deps.db.updateTable('accounts').set({ rate_limit_per_minute: 1 }).where('id', '=', accountId).execute()

  const response = await sendAgain({ messageId, variables })

  expect(response).toMatchObject({ statusCode: 429, error: { data: { code: 'RATE_LIMIT_EXCEEDED' } } })
})
