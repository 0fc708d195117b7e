import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Message } from '../../../contracts/api/message.ts'
import type { FailureReasons, MessageCount } from '../../../contracts/dashboard/message.ts'
import type { Overview } from '../../../contracts/dashboard/overview.ts'
import { countryOf } from '../../../src/platform/countries.ts'
import { countMessages, interpretSearch, listFailureReasons } from '../../../src/messages/queries/search.ts'
import { foldCounts } from '../../../src/messages/queries/counts-store.ts'
import { findPage } from '../../../src/messages/queries/read.ts'
import { report, sendOne, status } from '../../support/callbacks.ts'
import { exampleSend } from '../../support/example-send.ts'
import { forFile } from '../../support/lifetime.ts'
import { signedInOwner } from '../../support/user.ts'
import { startTestServer } from '../../support/server.ts'

const server = await forFile(startTestServer())
const account = await server.account()
await account.template({ name: 'invoice_ready', body: 'Hello.' })
const owner = await signedInOwner(server, account.accountId, { role: 'viewer' })
await send({ externalId: 'order-1', to: '34600111001' })
await send({ externalId: 'order-10', to: '34600111002' })
await send({ externalId: 'A_1%b', to: '34600111003', template: 'invoice_ready', variables: {} })
await send({ externalId: '4915112345678', to: '15550131026' })
await account.post('/api/v1/message/send', { ...exampleSend, externalId: undefined, to: '4915112345678' })

function send(change: object) {
  return account.post('/api/v1/message/send', { ...exampleSend, ...change })
}

interface Page {
  items: Message[]
  nextCursor?: string
  matched?: string
  lookedFor?: string
}

/** An account of its own, and what a viewer of it lists. */
async function setUpCustomer() {
  const customer = await server.account()
  const { accountId } = customer
  const viewer = await signedInOwner(server, accountId, { role: 'viewer' })
  const list = async (filters: object) => (await viewer.query<Page>('message.list', { accountId, ...filters })).data
  const listExternalIds = async (filters: object) => (await list(filters)).items.map(({ externalId }) => externalId)
  return { customer, accountId, viewer, list, listExternalIds }
}

async function search(filters: object, accountId = account.accountId): Promise<Page> {
  const { statusCode, data } = await owner.query<Page>('message.list', { accountId, ...filters })
  expect(statusCode).toBe(200)
  return data
}

async function count(filters: object): Promise<MessageCount> {
  return (await owner.query<MessageCount>('message.count', { accountId: account.accountId, ...filters })).data
}

/** The external IDs of the found messages, or their recipients if they have none. */
async function find(text: string, filters: object = {}) {
  const { items, matched } = await search({ search: text, ...filters })
  return { found: items.map(({ externalId, to }) => externalId ?? to), matched }
}

test.each([
  { text: '346565', digits: '346565' },
  { text: ' +34 600-111 (222) ', digits: '34600111222' },
  { text: 'order-1', digits: undefined },
  { text: '+', digits: undefined },
  // A fragment: the end of a number, not a number with a prefix.
  { text: '0042', digits: '0042' },
  { text: '00 600', digits: '00600' },
  { text: '060011', digits: '060011' },
  { text: '0000000', digits: '0000000' },
])('searches for the digits $digits with $text', ({ text, digits }) => {
  expect(interpretSearch(text)).toEqual({ kind: 'parts', parts: { text: text.trim(), digits } })
})

test.each([
  { text: '0034600111222', digits: '34600111222' },
  { text: '00 34 600', digits: '34600' },
  { text: '0600 111 222', digits: '600111222' },
])('searches for $digits without the prefix of $text, and reports it', ({ text, digits }) => {
  expect(interpretSearch(text)).toEqual({ kind: 'parts', parts: { text, digits }, lookedFor: digits })
})

test('finds numbers by their end, and by a number with a prefix', async () => {
  const { customer, list } = await setUpCustomer()
  for (const to of ['34600110042', '34600114200', '34600342111'])
    await customer.post('/api/v1/message/send', { ...exampleSend, externalId: undefined, to })
  const find = async (search: string) => {
    const { items, matched, lookedFor } = await list({ search })
    return { found: items.map(({ to }) => to), matched, lookedFor }
  }

  expect(await find('0042')).toEqual({ found: ['34600110042'], matched: 'parts', lookedFor: undefined })
  expect(await find('0600342111')).toEqual({ found: ['34600342111'], matched: 'parts', lookedFor: '600342111' })
  expect(await find('+00 34600114200')).toEqual({
    found: ['34600114200'],
    matched: 'recipient',
    lookedFor: '34600114200',
  })
})

test('filters by the country of the recipient', async () => {
  const { customer, accountId, viewer, listExternalIds } = await setUpCustomer()
  const recipients = ['34600111222', '12125550100', '14165550100', '79161234567', '77011234567']
  for (const to of recipients) await sendOne(customer, { to, externalId: to })

  for (const to of recipients) expect(await listExternalIds({ country: countryOf(to) ?? '' })).toEqual([to])
  expect(await listExternalIds({ country: 'FR' })).toEqual([])
  expect(await listExternalIds({ country: 'ZZ' })).toEqual([])
  expect(await countMessages(server.deps, customer, { country: 'CA' })).toEqual({ count: 1, kind: 'exact' })
  await foldCounts(server.deps.db)
  expect(await countMessages(server.deps, customer, { country: 'KZ' }, 1)).toEqual({ count: 5, kind: 'estimate' })
  const refused = await viewer.query('message.list', { accountId, country: 'Spain' })
  expect(refused.error?.message).toContain('must be a country code such as ES')
})

test('filters by the sending number and by how a message failed', async () => {
  const { customer, listExternalIds: list } = await setUpCustomer()
  const second = await customer.addWhatsAppAccount({ phoneNumberId: '190000000000777' })
  const sent = await sendOne(customer, { externalId: 'undelivered' })
  await report(server, customer, [status('failed', sent.waMessageId)])
  for (const accountId of [customer.whatsAppAccountId, second])
    await customer.post('/api/v1/message/send', { ...exampleSend, accountId, to: '15550131026', externalId: accountId })
  await sendOne(customer, { externalId: 'sent', accountId: second })
  const counted = (filters: object, maxExamined?: number) => countMessages(server.deps, customer, filters, maxExamined)

  expect(await list({ whatsAppAccountId: second })).toEqual(['sent', second])
  expect(await list({ whatsAppAccountId: second, status: 'failed' })).toEqual([second])
  expect(await list({ whatsAppAccountId: 'wa_unknown' })).toEqual([])
  expect(await list({ failure: 'rejected' })).toEqual([second, customer.whatsAppAccountId])
  expect(await list({ failure: 'undelivered' })).toEqual(['undelivered'])
  expect(await list({ failure: 'undelivered', status: 'sent' })).toEqual([])
  expect(await counted({ whatsAppAccountId: second })).toEqual({ count: 2, kind: 'exact' })
  await foldCounts(server.deps.db)
  // Two of the newest three messages are from the second number, so the estimate is two thirds of all four.
  expect(await counted({ whatsAppAccountId: second }, 3)).toEqual({ count: 3, kind: 'estimate' })
  // The overview counts by whether WhatsApp accepted the message.
  expect(await counted({ failure: 'rejected' }, 2)).toEqual({ count: 2, kind: 'estimate' })
  expect(await counted({ failure: 'undelivered' }, 2)).toEqual({ count: 1, kind: 'estimate' })
})

test('counts the reasons of all matching messages, not only of one page', async () => {
  const { customer, accountId, viewer } = await setUpCustomer()
  for (const to of ['15550131026', '34600111222', '15550131026', '15559000008', '15550131026'])
    await customer.post('/api/v1/message/send', { ...exampleSend, to, externalId: `order-${to}` })
  const { waMessageId } = await sendOne(customer, { externalId: 'no-reason' })
  await report(server, customer, [status('failed', waMessageId)])
  const reasons = async (filters: object) => {
    const { data } = await viewer.query<FailureReasons>('message.failureReasons', { accountId, ...filters })
    return { ...data, reasons: data.reasons.map(({ code, count }) => [code, count]) }
  }

  const all = [
    ['131026', 3],
    ['UNKNOWN', 1],
    ['WHATSAPP_UNAVAILABLE', 1],
  ]
  expect(await reasons({ status: 'failed' })).toEqual({ reasons: all, others: 0 })
  expect(await reasons({ errorCode: '131026' })).toEqual({ reasons: all.slice(0, 1), others: 0 })
  expect(await reasons({ failure: 'undelivered' })).toEqual({ reasons: [['UNKNOWN', 1]], others: 0 })
  expect(await reasons({ search: '900000' })).toEqual({ reasons: [['WHATSAPP_UNAVAILABLE', 1]], others: 0 })
  expect(await reasons({ status: 'sent' })).toEqual({ reasons: [], others: 0 })
  const { data } = await viewer.query<FailureReasons>('message.failureReasons', { accountId, errorCode: '131026' })
  expect(data.reasons[0]?.meaning).toBe('The message cannot reach this recipient.')
  // The newest three: one without a reason, one of 131026 and one of WHATSAPP_UNAVAILABLE.
  expect(await listFailureReasons(server.deps, customer, { status: 'failed' }, 3)).toMatchObject({
    reasons: [{ count: 1 }, { count: 1 }, { count: 1 }],
    examined: 3,
  })
})

test.each([
  { text: 'MSG_01KAH', term: { kind: 'messageId', start: 'msg_01kah' } },
  { text: 'wamid.HBgL', term: { kind: 'waMessageId', waMessageId: 'wamid.HBgL' } },
])('recognizes the ID $text', ({ text, term }) => {
  expect(interpretSearch(text)).toEqual(term)
})

test.each([
  { text: '600111', found: ['A_1%b', 'order-10', 'order-1'], matched: 'parts' },
  { text: '+34 600 111 002', found: ['order-10'], matched: 'recipient' },
  { text: 'order-1', found: ['order-1'], matched: 'externalId' },
  { text: 'RDER-1', found: ['order-10', 'order-1'], matched: 'parts' },
  { text: 'invoice', found: ['A_1%b'], matched: 'parts' },
  { text: '_1%', found: ['A_1%b'], matched: 'parts' },
  { text: 'msg_', found: ['4915112345678', '4915112345678', 'A_1%b', 'order-10', 'order-1'], matched: 'messageId' },
  { text: 'nothing like it', found: [], matched: 'parts' },
  { text: 'wamid.unknown', found: [], matched: 'waMessageId' },
])('finds $found by $text', async ({ text, ...expected }) => {
  expect(await find(text)).toEqual(expected)
})

test('finds a message by its ID, the start of its ID and its wamid', async () => {
  const [message] = (await search({ search: 'order-10' })).items
  const { messageId = '', waMessageId = '' } = message ?? {}

  expect(await search({ search: messageId })).toEqual({ items: [message], matched: 'messageId' })
  expect(await search({ search: messageId.slice(0, -2) })).toEqual({ items: [message], matched: 'messageId' })
  expect(await search({ search: waMessageId })).toEqual({ items: [message], matched: 'waMessageId' })
})

test('lists only exact matches unless the search includes parts', async () => {
  expect(await find('4915112345678')).toEqual({ found: ['4915112345678'], matched: 'recipient' })
  expect(await find('4915112345678', { parts: true })).toEqual({
    found: ['4915112345678', '4915112345678'],
    matched: 'parts',
  })
  expect(await find('order-1', { parts: true })).toEqual({ found: ['order-10', 'order-1'], matched: 'parts' })
})

test('combines a search with filters', async () => {
  expect(await find('order', { template: 'invoice_ready' })).toEqual({ found: [], matched: 'parts' })
  expect(await find('491', { errorCode: '131026' })).toEqual({ found: ['4915112345678'], matched: 'parts' })
  expect(await find('+34 600 111 002', { recipient: 'ES.2041776300912345' })).toEqual({ found: [], matched: 'parts' })
  expect(await find('order-1', { until: '2020-01-01T00:00:00Z' })).toEqual({ found: [], matched: 'externalId' })
})

test("finds nothing of another account's", async () => {
  const other = await setUpCustomer()
  const [message] = (await search({ search: 'order-10' })).items
  for (const text of ['order-10', 'order', message?.messageId, message?.waMessageId, message?.to])
    expect((await other.list({ search: text })).items).toEqual([])
})

test.each([{ search: 'x'.repeat(256) }, { search: 'a\u0000b' }, { search: '' }, { errorCode: "1' or '1'='1" }])(
  'rejects the input %j',
  async (filters) => {
    const { statusCode } = await owner.query('message.list', { accountId: account.accountId, ...filters })
    expect(statusCode).toBe(400)
  },
)

test('counts the messages that match the filters', async () => {
  expect(await count({})).toEqual({ count: 5, kind: 'exact' })
  expect(await count({ search: '600111' })).toEqual({ count: 3, kind: 'exact' })
  expect(await count({ search: 'order-1' })).toEqual({ count: 1, kind: 'exact' })
  expect(await count({ status: 'failed' })).toEqual({ count: 1, kind: 'exact' })
  expect(await count({ errorCode: '131026', to: '34600111001' })).toEqual({ count: 0, kind: 'exact' })
})

test('estimates a count beyond the messages that it examines', async () => {
  const customer = await server.account()
  for (let number = 1; number <= 12; number++)
    await customer.post('/api/v1/message/send', {
      ...exampleSend,
      to: number % 3 === 0 ? '15550131026' : '34600111222',
      externalId: number % 2 === 0 ? `even-${number}` : `odd-${number}`,
    })
  await foldCounts(server.deps.db)
  const count = (filters: object) => countMessages(server.deps, customer, filters, 6)

  expect(await count({})).toEqual({ count: 12, kind: 'estimate' })
  // The overview counts by status and by code.
  expect(await count({ status: 'failed' })).toEqual({ count: 4, kind: 'estimate' })
  expect(await count({ errorCode: '131026' })).toEqual({ count: 4, kind: 'estimate' })
  // Half of the examined messages match, so the estimate is half of all.
  expect(await count({ search: 'even' })).toEqual({ count: 6, kind: 'estimate' })
  expect(await count({ to: '34600111222' })).toEqual({ count: 6, kind: 'minimum' })
  expect(await count({ search: 'even', until: '2020-01-01T00:00:00Z' })).toEqual({ count: 0, kind: 'exact' })
})

test('estimates from the counts of the period only', async () => {
  const customer = await server.account()
  for (const externalId of ['a', 'b', 'c']) await customer.post('/api/v1/message/send', { ...exampleSend, externalId })
  await foldCounts(server.deps.db)
  const from = new Date(Math.floor(Date.now() / 900_000) * 900_000 - 900_000)
  const until = new Date((Math.floor(Date.now() / 86_400_000) + 2) * 86_400_000)
  const oldDay = new Date(until.getTime() - 40 * 86_400_000)
  const addBucket = (start: Date, count: number) =>
    sql`
      insert into message_count_buckets (account_id, start, status, accepted, error_code, delivery_seconds, count)
      values (${customer.accountId}, ${start}, 'sent', true, '', -1, ${count})`.execute(server.deps.db)
  await addBucket(new Date(from.getTime() - 900_000), 100)
  await addBucket(until, 200)
  await sql`
    insert into message_counts (account_id, day, status, accepted, error_code, delivery_seconds, count)
    select ${customer.accountId}, (${oldDay}::timestamptz at time zone 'UTC')::date + day, 'sent', true, '', -1, count
    from (values (-1, 1000), (0, 2000), (40, 4000)) days (day, count)`.execute(server.deps.db)
  const estimate = async (start: Date) => {
    const period = { from: start.toISOString(), until: until.toISOString() }
    return (await countMessages(server.deps, customer, period, 2)).count
  }

  expect(await estimate(from)).toBe(3)
  // A quarter of an hour counts as a whole, and so does an old day.
  expect(await estimate(new Date(from.getTime() - 1))).toBe(103)
  expect(await estimate(new Date(oldDay.getTime() + 3_600_000))).toBe(2103)
})

test('examines a bounded number of messages per page in a search for parts', async () => {
  const customer = await server.account()
  for (const externalId of ['a-1', 'b-1', 'b-2', 'b-3', 'a-2', 'b-4'])
    await customer.post('/api/v1/message/send', { ...exampleSend, externalId })
  const list = async (cursor?: string) => {
    const search = { parts: { text: 'A-', digits: undefined } }
    const page = await findPage(server.deps, customer, { limit: 10, cursor }, { maxExamined: 3, search })
    return { found: page.rows.map(({ externalId }) => externalId), nextCursor: page.nextCursor }
  }

  const first = await list()
  expect(first.found).toEqual(['a-2'])
  const second = await list(first.nextCursor)
  expect(second.found).toEqual(['a-1'])
  expect(await list(second.nextCursor)).toEqual({ found: [], nextCursor: undefined })
})

test('the public API filters by error code', async () => {
  const customer = await server.account()
  await customer.post('/api/v1/message/send', { ...exampleSend, to: '15550131026', externalId: 'a' })
  await customer.post('/api/v1/message/send', { ...exampleSend, to: '15559000008', externalId: 'b' })
  await customer.post('/api/v1/message/send', { ...exampleSend, externalId: 'c' })
  await sql`
    update messages set error_code = null where account_id = ${customer.accountId} and error_code = '131026'`.execute(
    server.deps.db,
  )
  await customer.post('/api/v1/message/send', { ...exampleSend, to: '15550131026', externalId: 'd' })
  const list = async (query: string) => {
    const { data } = (await customer.get(`/api/v1/message?${query}`)).json()
    return (data['items'] as Message[]).map(({ externalId }) => externalId)
  }

  expect(await list('errorCode=131026')).toEqual(['d'])
  expect(await list('errorCode=WHATSAPP_UNAVAILABLE')).toEqual(['b'])
  expect(await list('errorCode=UNKNOWN')).toEqual(['a'])
  expect(await list('errorCode=131026&status=sent')).toEqual([])
  const refused = await customer.get('/api/v1/message?errorCode=none')
  expect(refused.json().error).toEqual({
    code: 'VALIDATION_ERROR',
    field: 'errorCode',
    message: expect.stringMatching(/^errorCode: must be an error code such as 131026/),
  })
})

test('finds the messages that failed without a reason, under the code that overview and events show', async () => {
  const { customer, accountId, viewer, listExternalIds } = await setUpCustomer()
  const { waMessageId } = await sendOne(customer, { externalId: 'no-reason' })
  await report(server, customer, [status('failed', waMessageId)])
  await foldCounts(server.deps.db)

  const { data: overview } = await viewer.query<Overview>('overview.get', { accountId, days: 7 })
  expect(overview.failures).toEqual([
    {
      code: 'UNKNOWN',
      meaning: 'WhatsApp gave no reason.',
      facts: { meaning: { code: 'failure.noReason' } },
      refused: 0,
      undelivered: 1,
    },
  ])
  expect(await listExternalIds({ errorCode: 'UNKNOWN' })).toEqual(['no-reason'])
  const { data: counted } = await viewer.query<MessageCount>('message.count', { accountId, errorCode: 'UNKNOWN' })
  expect(counted).toMatchObject({ count: 1 })
})
