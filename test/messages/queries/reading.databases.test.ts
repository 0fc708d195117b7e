import { beforeAll, describe, expect, test } from 'vitest'
import { type Message, sendMessage } from '../../../contracts/api/message.ts'
import type { Template } from '../../../contracts/api/template.ts'
import { listMessages } from '../../../src/messages/queries/read.ts'
import { startTestServer, type TestAccount, through, nodeForTest } from '../../support/server.ts'
import { exportPath, insertMessages, listAll, readLines } from './exported.ts'
import { forFile } from '../../support/lifetime.ts'

const example = sendMessage.example.input

const server = await forFile(startTestServer())
const account = await server.account()

async function list(customer: TestAccount, query = ''): Promise<{ items: Message[]; nextCursor?: string }> {
  const response = await customer.get(`/api/v1/message${query}`)
  expect(response.statusCode).toBe(200)
  return response.json().data as unknown as { items: Message[]; nextCursor?: string }
}

test('previews the text without sending or storing anything', async () => {
  const customer = await server.account()
  const before = server.simulator.requests.length

  const response = await customer.post('/api/v1/message/preview', example)

  expect(response.json().data).toEqual({
    to: example.to,
    template: example.template,
    language: example.language,
    accountId: customer.whatsAppAccountId,
    body: 'Hello Ada, your order WB-1042 is on its way.',
    footer: 'Waybill Demo Shop',
  })
  expect(server.simulator.requests).toHaveLength(before)
  expect((await list(customer)).items).toEqual([])
})

test('rejects a preview for the same reasons as a send', async () => {
  const wrong = { ...example, variables: { '1': 'Ada' } }
  const [preview, send] = [
    await account.post('/api/v1/message/preview', wrong),
    await account.post('/api/v1/message/send', wrong),
  ]
  expect(preview.json()).toEqual(send.json())
})

test('returns a message by its ID', async () => {
  const sent = await account.post('/api/v1/message/send', example)
  const messageId = String(sent.json().data['messageId'])

  const response = await account.get(`/api/v1/message/${messageId}`)

  expect(response.json().data).toEqual({
    messageId,
    waMessageId: sent.json().data['waMessageId'],
    status: 'sent',
    to: example.to,
    template: example.template,
    language: example.language,
    accountId: account.whatsAppAccountId,
    externalId: example.externalId,
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    sentAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
  })
})

test('does not find a message of another account', async () => {
  const sent = await account.post('/api/v1/message/send', example)
  const other = await server.account()

  const response = await other.get(`/api/v1/message/${String(sent.json().data['messageId'])}`)

  expect(response.statusCode).toBe(404)
  expect(response.json().error.code).toBe('MESSAGE_NOT_FOUND')
  expect((await list(other)).items).toEqual([])
})

test('lists messages newest first and each once across pages, even while new ones arrive', async () => {
  const customer = await server.account()
  for (let n = 1; n <= 5; n++) await customer.post('/api/v1/message/send', { ...example, externalId: `n-${n}` })

  const seen: (string | undefined)[] = []
  let cursor: string | undefined
  do {
    const page = await list(customer, `?limit=2${cursor === undefined ? '' : `&cursor=${cursor}`}`)
    seen.push(...page.items.map((message) => message.externalId))
    cursor = page.nextCursor
    await customer.post('/api/v1/message/send', { ...example, externalId: 'later' })
  } while (cursor !== undefined)

  expect(seen).toEqual(['n-5', 'n-4', 'n-3', 'n-2', 'n-1'])
})

test('stops a slow search after a while and continues it with a cursor', async () => {
  const customer = await server.account()
  for (const to of ['15550131026', example.to, example.to, example.to, '15550131026', example.to])
    await customer.post('/api/v1/message/send', { ...example, to })
  const search = (limit: number, cursor?: string) =>
    listMessages(server.deps, customer, { status: 'failed', limit, cursor }, { maxExamined: 3 })
  const all = (await list(customer)).items

  const first = await search(10)
  expect(first.items).toEqual([all[1]])
  const second = await search(10, first.nextCursor)
  expect(second.items).toEqual([all[5]])
  const third = await search(10, second.nextCursor)
  expect(third).toEqual({ items: [] })
  expect(await search(1)).toEqual({ items: [all[1]], nextCursor: all[2]?.messageId })
  const sent = await listMessages(server.deps, customer, { status: 'sent', limit: 1 }, { maxExamined: 3 })
  expect(sent).toEqual({ items: [all[0]], nextCursor: all[0]?.messageId })
})

test('combines filters', async () => {
  const customer = await server.account()
  await customer.template({ name: 'other_template', body: 'Hello.' })
  const send = (change: object) => customer.post('/api/v1/message/send', { ...example, ...change })
  await send({ externalId: 'a', to: '34600000001' })
  await send({ externalId: 'b', to: '34600000001', template: 'other_template', variables: {} })
  await send({ externalId: 'c', to: '15550131026' })
  const found = async (query: string) => (await list(customer, query)).items.map((message) => message.externalId)

  expect(await found('?externalId=a')).toEqual(['a'])
  expect(await found('?to=34600000001')).toEqual(['b', 'a'])
  expect(await found('?to=34600000001&template=order_shipped')).toEqual(['a'])
  expect(await found('?status=failed')).toEqual(['c'])
  expect(await found('?status=failed&to=34600000001')).toEqual([])
})

describe('an export', () => {
  let customer: TestAccount
  beforeAll(async () => {
    customer = await server.account()
    await insertMessages(server, customer, 250)
  })

  test('has the messages of all pages of the list, one per line', async () => {
    const response = await customer.get(exportPath)

    expect(response.statusCode).toBe(200)
    expect(response.headers['content-type']).toBe('application/x-ndjson')
    expect(readLines(response.text)).toEqual(await listAll(customer))
    expect(readLines(response.text)).toHaveLength(250)
  })

  test.each([
    '&status=failed',
    '&to=34600000003',
    '&template=order_1&status=failed&errorCode=131026',
    '&externalId=order-77',
    `&from=2026-11-20T09:31:00Z&until=${encodeURIComponent('2026-11-20T10:32:00+01:00')}`,
    '&status=read',
  ])('has the messages of the list with the filter %s', async (query) => {
    const exported = readLines((await customer.get(`${exportPath}?format=ndjson${query}`)).text)

    expect(exported).toEqual(await listAll(customer, query))
  })
})

test('includes from and excludes until in a period', async () => {
  const customer = await server.account()
  await customer.post('/api/v1/message/send', { ...example, externalId: 'one' })
  const [message] = (await list(customer)).items
  const at = Date.parse(message?.createdAt ?? '')
  const time = (offset: number) => encodeURIComponent(new Date(at + offset).toISOString())

  expect((await list(customer, `?from=${time(0)}`)).items).toHaveLength(1)
  expect((await list(customer, `?from=${time(1)}`)).items).toHaveLength(0)
  expect((await list(customer, `?until=${time(0)}`)).items).toHaveLength(0)
  expect((await list(customer, `?until=${time(1)}`)).items).toHaveLength(1)
})

test('filters by the exact creation time of a message', async () => {
  // The ID must contain this time, whenever it is generated.
  const at = new Date(Date.now() - 3_000)
  const node = await nodeForTest(server, { deps: { now: () => at } })
  const customer = await server.account()
  await through(node, customer).post('/api/v1/message/send', { ...example, externalId: 'one' })
  const [message] = (await list(customer)).items

  expect(message?.createdAt).toBe(at.toISOString())
  const behind = encodeURIComponent(new Date(at.getTime() + 1).toISOString())
  expect((await list(customer, `?from=${behind}`)).items).toHaveLength(0)
  expect((await list(customer, `?until=${behind}`)).items).toHaveLength(1)
})

test.each([
  { query: '?limit=0', field: 'limit', says: /^limit: must be at least 1/ },
  { query: '?limit=101', field: 'limit', says: /^limit: must be at most 100/ },
  { query: '?limit=ten', field: 'limit', says: /^limit: must be a whole number/ },
  { query: '?status=lost', field: 'status', says: /^status: / },
  { query: '?from=yesterday', field: 'from', says: /^from: must be an ISO 8601 time/ },
  { query: '?cursor=nonsense', field: 'cursor', says: /^cursor: / },
  { query: '?externalid=x', says: /"externalid": no such field; did you mean externalId\?/ },
  { query: '?to=1&to=2', field: 'to', says: /^to: takes one value, but the URL has several/ },
])('rejects the list query $query', async ({ query, field, says }) => {
  const response = await account.get(`/api/v1/message${query}`)
  expect(response.statusCode).toBe(400)
  expect(response.json().error).toEqual({ code: 'VALIDATION_ERROR', field, message: expect.stringMatching(says) })
})

test('shows the placeholders of a template and whether it can be sent', async () => {
  const response = await account.get('/api/v1/template/order_shipped/en')
  expect(response.json().data).toMatchObject({
    name: 'order_shipped',
    status: 'APPROVED',
    sendable: true,
    placeholders: [{ key: '1' }, { key: '2' }],
    components: [{ type: 'BODY', text: 'Hello {{1}}, your order {{2}} is on its way.' }, { type: 'FOOTER' }],
  })
})

test('does not find an unknown template', async () => {
  const response = await account.get('/api/v1/template/no_such/en')
  expect(response.statusCode).toBe(404)
  expect(response.json().error.code).toBe('TEMPLATE_NOT_FOUND')
})

test('lists templates page by page, sorted by name and language', async () => {
  const customer = await server.account()
  const names: string[] = []
  let cursor: string | undefined
  do {
    const response = await customer.get(`/api/v1/template?limit=3${cursor === undefined ? '' : `&cursor=${cursor}`}`)
    const page = response.json().data as unknown as { items: Template[]; nextCursor?: string }
    names.push(...page.items.map((template) => `${template.name} ${template.language}`))
    cursor = page.nextCursor
  } while (cursor !== undefined)

  expect(names).toEqual([...new Set(names)].sort())
  expect(names).toContain('order_shipped en')
  expect(names).toContain('order_shipped es')
})

test('filters templates by status and explains why some cannot be sent', async () => {
  await account.template({
    name: 'pay_order',
    components: [
      { type: 'BODY', text: 'Pay.' },
      { type: 'BUTTONS', buttons: [{ type: 'ORDER_DETAILS', text: 'Pay' }] },
    ],
  })
  const approved = await account.get('/api/v1/template?status=APPROVED&limit=100')
  const items = (approved.json().data as unknown as { items: Template[] }).items
  expect(items.every((template) => template.status === 'APPROVED')).toBe(true)
  for (const template of items) expect(template.reason === undefined).toBe(template.sendable)
  expect(items.filter((template) => !template.sendable).map(({ name }) => name)).toEqual(['pay_order'])
})

test('lists no templates for an account without a WhatsApp account', async () => {
  const customer = await server.account()
  await server.deps.db.deleteFrom('whatsapp_accounts').where('account_id', '=', customer.accountId).execute()
  const response = await customer.get('/api/v1/template')
  expect(response.statusCode).toBe(400)
  expect(response.json().error.code).toBe('NO_ACTIVE_ACCOUNT')
})
