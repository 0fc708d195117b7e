import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { matchNames } from '../../../src/messages/erasure/number.ts'
import { endClaimsOfErased, eraseSomeMessages } from '../../../src/messages/erasure/store.ts'
import { foldCounts } from '../../../src/messages/queries/counts-store.ts'
import { spellingsOf } from '../../../src/messages/suppressions/number-key.ts'
import { addEndpoint, removeEndpoint } from '../../../src/webhooks/endpoints/change.ts'
import { Worker } from '../../../src/webhooks/queue/worker.ts'
import { getMessage, post, report, sendOne, status } from '../../support/callbacks.ts'
import { erase } from '../../support/erase.ts'
import { findTablesWith } from '../../support/find-text.ts'
import { exampleSend } from '../../support/example-send.ts'
import { forFile } from '../../support/lifetime.ts'
import { listRecorded, repliesCallback, tap, text, userMessage } from '../../support/replies.ts'
import { nodeForTest, startTestServer, type TestAccount, through } from '../../support/server.ts'
import { startWebhookReceiver } from '../../support/webhook-receiver.ts'
import { webhookConfig } from '../../support/webhooks.ts'

const server = await forFile(startTestServer())
const receiver = await forFile(startWebhookReceiver())

let numbers = 0
/** A number that no other test uses. The simulator accepts it. */
function newNumber(): string {
  return `34600${String((numbers += 1)).padStart(5, '0')}7`
}

const findText = (text: string) => findTablesWith(server.deps.db, text)

const base64Of = (number: string) => Buffer.from(`\x1c\x18\x0b${number}`, 'latin1').toString('base64').slice(4, 18)

async function expectErased(number: string): Promise<void> {
  for (const spelled of [number, base64Of(number)]) expect(await findText(spelled)).toEqual([])
}

async function addTestEndpoint(account: TestAccount, path: string): Promise<void> {
  await addEndpoint(server.deps, account.accountId, {
    url: `${receiver.url}${path}`,
    events: ['message.sent', 'message.delivered', 'message.read', 'message.failed'],
  })
}

function startWorker(): Worker {
  const worker = new Worker(server.deps, webhookConfig, { pollMilliseconds: 20, random: () => 0 })
  worker.start()
  return worker
}

test('erases a number everywhere and keeps its messages', async () => {
  const account = await server.account()
  const number = newNumber()
  const path = '/echo'
  // Some customer endpoints echo the request in their response.
  receiver.behave(({ body }, response) => void response.end(`got ${body}`), path)
  await addTestEndpoint(account, path)
  const worker = startWorker()
  const sent = await sendOne(account, { to: number, externalId: `order +${number}` })
  await report(server, account, [{ ...status('delivered', sent.waMessageId), recipient_id: number }])
  await expect.poll(() => receiver.at(path).length).toBe(2)
  await expect.poll(() => findText(number)).toContain('webhook_attempts')
  expect(await findText(base64Of(number))).toContain('events')

  const erased = await erase(server, number)

  expect(erased).toMatchObject({ accountIds: [account.accountId], messages: 1, complete: true })
  await expectErased(number)
  expect(await getMessage(account, sent.messageId)).toMatchObject({
    to: 'erased',
    waMessageId: '',
    status: 'delivered',
    externalId: 'order erased',
  })
  const { items } = (await account.get(`/api/v1/event?messageId=${sent.messageId}`)).json().data as {
    items: { payload: { data: object } }[]
  }
  expect(items.length).toBe(2)
  expect(JSON.stringify(items)).toContain('"to":"erased"')
  expect(await erase(server, number)).toEqual({
    accountIds: [],
    messages: 0,
    rows: {},
    replies: 0,
    contactBook: { deleted: 0, failed: [] },
    complete: true,
  })
  await worker.stop({ graceMilliseconds: 0 })
})

test('does not change counts', async () => {
  const account = await server.account()
  const number = newNumber()
  const sent = await sendOne(account, { to: number })
  await report(server, account, [status('delivered', sent.waMessageId)])
  const count = async () => {
    await foldCounts(server.deps.db)
    const query = server.deps.db.selectFrom('message_count_buckets').where('account_id', '=', account.accountId)
    return query.select(['status', 'accepted', 'count']).where('count', '>', 0).execute()
  }
  const before = await count()

  await erase(server, number)

  expect(before).toEqual([{ status: 'delivered', accepted: true, count: 1 }])
  expect(await count()).toEqual(before)
})

test('erases only the given account', async () => {
  const [one, other] = [await server.account(), await server.account()]
  const number = newNumber()
  const [first, second] = [await sendOne(one, { to: number }), await sendOne(other, { to: number })]

  expect(await erase(server, number, one.accountId)).toMatchObject({ accountIds: [one.accountId], messages: 1 })

  expect(await getMessage(one, first.messageId)).toMatchObject({ to: 'erased' })
  expect(await getMessage(other, second.messageId)).toMatchObject({ to: number, waMessageId: second.waMessageId })
})

test('leaves longer and shorter numbers with the same digits', async () => {
  const account = await server.account()
  // German numbers can have each of these lengths.
  const number = `49${newNumber()}`.slice(0, 12)
  const others = [`${number}3`, number.slice(0, -1)]
  const sent = await Promise.all(others.map(async (to) => ({ to, ...(await sendOne(account, { to })) })))
  await sendOne(account, { to: number })

  expect(await erase(server, number)).toMatchObject({ messages: 1 })

  for (const message of sent) expect(await getMessage(account, message.messageId)).toMatchObject(message)
})

test('stores nothing of the recipient with statuses that arrive later', async () => {
  const account = await server.account()
  const number = newNumber()
  await addTestEndpoint(account, '/later')
  const sent = await sendOne(account, { to: number })
  await erase(server, number)

  const error = {
    code: 131026,
    title: 'Message undeliverable',
    error_data: { details: `+${number} is not on WhatsApp` },
  }
  const callbackData = sent.messageId
  await report(server, account, [
    { ...status('failed', sent.waMessageId, { callbackData, errors: [error] }), recipient_id: number },
  ])

  expect(await getMessage(account, sent.messageId)).toMatchObject({
    status: 'failed',
    to: 'erased',
    waMessageId: '',
    error: { code: '131026' },
  })
  await expectErased(number)
  expect(await findText('not on WhatsApp')).toEqual([])
})

test('stores nothing of the recipient when WhatsApp responds to a send in progress', async () => {
  const account = await server.account()
  const number = newNumber()
  const answered = Promise.withResolvers<void>()
  const { whatsapp } = server.deps
  const slow = await nodeForTest(server, {
    deps: {
      whatsapp: {
        ...whatsapp,
        sendTemplate: async (...args) => {
          const outcome = await whatsapp.sendTemplate(...args)
          await answered.promise
          return outcome
        },
      },
    },
  })
  const request = { ...exampleSend, to: number }
  const sending = through(slow, account).post('/api/v1/message/send', request, { 'idempotency-key': 'under-way' })
  await expect.poll(() => findText(number)).toContain('messages')

  expect(await erase(server, number)).toMatchObject({ messages: 1, complete: true })
  answered.resolve()

  const { statusCode, json } = await sending
  expect(statusCode).toBe(200)
  await expect
    .poll(() => getMessage(account, String(json().data['messageId'])))
    .toMatchObject({ to: 'erased', status: 'sent', waMessageId: '' })
  await expectErased(number)
})

test('never sends again for an idempotency key of an erased message', async () => {
  const account = await server.account()
  const number = newNumber()
  const body = { ...exampleSend, to: number }
  const send = (key: string) => account.post('/api/v1/message/send', body, { 'idempotency-key': key })
  expect((await send('order-1')).statusCode).toBe(200)
  expect((await send(`otp-${number}`)).statusCode).toBe(200)

  expect(await erase(server, number)).toMatchObject({ messages: 2, rows: { idempotency_keys: 1 } })

  const again = await send('order-1')
  expect(again.statusCode).toBe(422)
  expect(again.json().error).toMatchObject({
    code: 'IDEMPOTENCY_KEY_REUSED',
    message: expect.stringContaining('erased'),
  })
  const { rows } = await sql<{ key: string }>`
    select key from idempotency_keys where account_id = ${account.accountId}`.execute(server.deps.db)
  expect(rows).toEqual([{ key: 'order-1' }])
})

test('does not store the response to an event that was being delivered', async () => {
  const account = await server.account()
  const number = newNumber()
  const path = '/slow'
  const responses: (() => void)[] = []
  receiver.behave(({ body }, response) => void responses.push(() => response.end(`got ${body}`)), path)
  await addTestEndpoint(account, path)
  const worker = startWorker()
  await sendOne(account, { to: number })
  await expect.poll(() => responses.length).toBe(1)

  await erase(server, number)
  responses[0]?.()

  await worker.stop({ graceMilliseconds: 5_000 })
  expect(await findText(number)).toEqual([])
  const { rows } = await sql<{ attempts: number }>`
    select attempts from webhook_deliveries where account_id = ${account.accountId}`.execute(server.deps.db)
  expect(rows).toEqual([{ attempts: 0 }])
})

test('erases a message with everything that belongs to it in one step, before the search of all tables', async () => {
  const account = await server.account()
  const number = newNumber()
  const path = '/step'
  receiver.behave(({ body }, response) => void response.end(`got ${body}`), path)
  await addTestEndpoint(account, path)
  const worker = startWorker()
  const body = { ...exampleSend, to: number }
  for (const key of ['step-1', 'step-2'])
    expect((await account.post('/api/v1/message/send', body, { 'idempotency-key': key })).statusCode).toBe(200)
  await expect.poll(() => receiver.at(path).length).toBe(2)
  await expect.poll(() => findText(number)).toContain('webhook_attempts')
  await worker.stop()
  const { db } = server.deps
  const numbers = spellingsOf(number)
  const step = { accountId: account.accountId, recipients: numbers, matcher: matchNames(numbers) }
  const { waMessageIds } = await countRows(account)
  expect(waMessageIds).toBe(2)

  expect(await eraseSomeMessages(db, step, 1)).toEqual({ messages: 1, contents: 0, events: 1, replies: 0 })
  expect(await countRows(account)).toEqual({ waMessageIds: 1, hashes: 1 })
  expect(await findText(number)).toContain('messages')
  expect(await eraseSomeMessages(db, step, 10)).toMatchObject({ messages: 1 })

  expect(await countRows(account)).toEqual({ waMessageIds: 0, hashes: 0 })
  await expectErased(number)
  expect(await eraseSomeMessages(db, step, 10)).toMatchObject({ messages: 0 })
})

/** The remaining hashes that lead to the messages of an account: of wamids, and of requests with a key. */
async function countRows({ accountId }: TestAccount): Promise<{ waMessageIds: number; hashes: number }> {
  const { rows } = await sql<{ waMessageIds: number; hashes: number }>`
    select
      (select count(*) from wa_message_ids w join messages m on m.id = w.message_id where m.account_id = ${accountId})::integer
        as "waMessageIds",
      (select count(*) from idempotency_keys where account_id = ${accountId} and request_hash <> '')::integer as hashes`.execute(
    server.deps.db,
  )
  if (!rows[0]) throw new Error('the counts have no row')
  return rows[0]
}

test('ends claims of erased events only', async () => {
  const account = await server.account()
  await addTestEndpoint(account, '/claims')
  await sendOne(account, { to: newNumber() })
  await sendOne(account, { to: newNumber() })
  const { db } = server.deps
  const ofAccount = (table: 'webhook_deliveries') => db.updateTable(table).where('account_id', '=', account.accountId)
  await ofAccount('webhook_deliveries')
    .set({ generation: 1, due_at: new Date(Date.now() + 60_000) })
    .execute()
  const { rows } = await sql<{ id: string }>`
    update events set payload = '{"to":"erased"}' where id = (
      select id from events where account_id = ${account.accountId} order by id limit 1
    ) returning id`.execute(db)

  await endClaimsOfErased(db, account.accountId)

  const deliveries = await db
    .selectFrom('webhook_deliveries')
    .select(['event_id', 'generation'])
    .where('account_id', '=', account.accountId)
    .orderBy('event_id')
    .execute()
  expect(deliveries).toMatchObject([{ event_id: rows[0]?.id, generation: 2 }, { generation: 1 }])
})

test('completes during sends to the number', async () => {
  const account = await server.account({ rateLimit: 100_000 })
  const number = newNumber()
  const stop = new AbortController()
  const senders = Array.from({ length: 4 }, async () => {
    while (!stop.signal.aborted) await sendOne(account, { to: number })
  })
  await expect.poll(() => findText(number)).not.toEqual([])
  await erase(server, number)
  stop.abort()
  await Promise.all(senders)

  expect(await erase(server, number)).toMatchObject({ complete: true })
  await expectErased(number)
})

test('erases a number in rows about other recipients and keeps those recipients', async () => {
  const account = await server.account()
  const [number, other] = [newNumber(), newNumber()]
  const sent = await sendOne(account, { to: other, externalId: `referred by 00${number}` })
  await report(server, account, [status('read', sent.waMessageId)])

  expect(await erase(server, number)).toMatchObject({ accountIds: [account.accountId], messages: 0, complete: true })

  expect(await getMessage(account, sent.messageId)).toMatchObject({
    to: other,
    waMessageId: sent.waMessageId,
    externalId: 'referred by erased',
  })
  expect(await findText(number)).toEqual([])
})

test('erases several numbers from the names of files with the same bytes', async () => {
  const account = await server.account()
  const [one, other] = [newNumber(), newNumber()]
  const ids = [one, other].map(() => server.deps.newId('med'))
  const at = new Date()
  const rows = [one, other].map((number, index) => ({
    id: ids[index] ?? '',
    account_id: account.accountId,
    sha256: 'same',
    type: 'application/pdf',
    size_bytes: 1,
    filename: `welcome-${number}.pdf`,
    created_at: at,
    expires_at: at,
    stored_at: at,
  }))
  await server.deps.db.insertInto('media').values(rows).execute()

  for (const number of [one, other])
    expect(await erase(server, number)).toMatchObject({ rows: { media: 1 }, complete: true })

  const stored = await server.deps.db.selectFrom('media').select('filename').where('id', 'in', ids).execute()
  expect(stored.map(({ filename }) => filename).toSorted()).toEqual(ids.map((id) => `erased-${id}`).toSorted())
})

test('logs no number', async () => {
  const account = await server.account()
  const number = newNumber()
  await sendOne(account, { to: number })
  await account.get(`/api/v1/message?to=${number}`)
  await account.post('/api/v1/message/send', { to: `+${number}`, template: 'none', language: 'en' })
  await erase(server, number)

  expect(server.log.filter((line) => line.includes(number))).toEqual([])
})

test.each([
  { country: 'Mexico', to: '5215599990001', from: '525599990001' },
  { country: 'Brazil', to: '551199990002', from: '5511999990002' },
])('erases both spellings of a number in $country, whichever is given', async ({ to, from }) => {
  for (const given of [to, from]) {
    const account = await server.account()
    await addEndpoint(server.deps, account.accountId, { url: 'http://127.0.0.1:9/', events: ['message.replied'] })
    const answered = await sendOne(account, { to, externalId: `order of ${from}` })
    await sendOne(account, { to: from })
    for (const body of ['Where is it?', 'STOP']) {
      const message = userMessage(text(body), answered.waMessageId, { from })
      expect((await post(server, repliesCallback(account.phoneNumberId, [message]))).statusCode).toBe(200)
    }
    expect(await findText(from)).toEqual(expect.arrayContaining(['events', 'messages', 'suppressions']))
    expect(await findText(to)).toContain('messages')

    const erased = await erase(server, given)

    expect(erased).toMatchObject({ accountIds: [account.accountId], messages: 2, complete: true })
    for (const number of [to, from]) {
      await expectErased(number)
    }
  }
})

const interactive = (part: object) => ({ type: 'interactive', interactive: part })
const contact = (origin: string, phone: string) => ({ type: 'contacts', contacts: [{ origin, phones: [{ phone }] }] })

/** A reply of each kind that is stored. Every value has a word with a prefix that nothing else contains. */
const storedReplies = [
  text('zqx-text: I am Maria Lopez, born 1980-02-03, I have hepatitis C'),
  tap('zqx-label', 'zqx-payload:maria'),
  interactive({ type: 'button_reply', button_reply: { id: 'zqx-id', title: 'zqx-title' } }),
  interactive({
    type: 'nfm_reply',
    nfm_reply: { name: 'flow', body: 'zqx-flow', response_json: '{"name":"zqx-answer \\"Maria\\""}' },
  }),
  contact('contact_request', 'zqx-phone 600 111'),
]
const storedWords = ['text', 'label', 'payload', 'id', 'title', 'flow', 'answer', 'phone'].map((word) => `zqx-${word}`)

/** Of these, not even the kind is stored. */
const otherReplies = [
  interactive({ type: 'list_reply', list_reply: { id: 'zqx-list', title: 'zqx-list', description: 'zqx-list' } }),
  contact('other', 'zqx-card'),
  { type: 'location', location: { latitude: 40.4, longitude: -3.7, name: 'zqx-place', address: 'zqx-place' } },
  { type: 'reaction', reaction: { message_id: 'wamid.x', emoji: 'zqx-reaction' } },
  { type: 'image', image: { id: '1', caption: 'zqx-caption' } },
  { type: 'order', order: { catalog_id: '1', text: 'zqx-order', product_items: [] } },
]

/** The start of a response is stored: the part that quotes the reply. */
const echoReply = (body: string): string => `got ${JSON.stringify(JSON.parse(body).data.reply)}`

async function postReplies(account: TestAccount, messages: object[]): Promise<void> {
  const callback = JSON.stringify(repliesCallback(account.phoneNumberId, messages)).replaceAll('"Ada"', '"zqx-profile"')
  expect((await post(server, JSON.parse(callback))).statusCode).toBe(200)
}

test('erases what the recipient answered, in events, waiting deliveries, responses and contents', async () => {
  const account = await server.account()
  await server.deps.db
    .updateTable('accounts')
    .set({ contents_kept_days: 30, contents_since: new Date(0) })
    .where('id', '=', account.accountId)
    .execute()
  const number = newNumber()
  const path = '/answers'
  receiver.behave(({ body }, response) => void response.writeHead(500).end(echoReply(body)), path)
  await addEndpoint(server.deps, account.accountId, { url: `${receiver.url}${path}`, events: ['message.replied'] })
  const worker = startWorker()
  const sent = await sendOne(account, { to: number })
  await account.post('/api/v1/message/send', { to: number, template: 'none', variables: { '1': 'zqx-variable' } })
  await postReplies(
    account,
    [...storedReplies, ...otherReplies].map((content) => userMessage(content, sent.waMessageId, { from: number })),
  )
  for (const word of storedWords)
    await expect.poll(() => findText(word)).toEqual(expect.arrayContaining(['events', 'webhook_attempts']))
  await worker.stop({ graceMilliseconds: 5_000 })
  expect((await listRecorded(server, account)).length).toBe(storedReplies.length)

  const erased = await erase(server, number)

  expect(erased).toMatchObject({ messages: 1, replies: 5, rows: { message_contents: 1 }, complete: true })
  expect(erased.rows['events']).toBeGreaterThanOrEqual(5)
  expect(await findText('zqx-')).toEqual([])
  const kept = await listRecorded(server, account)
  expect(kept.map(({ data }) => data['reply'])).toEqual(
    ['text', 'button', 'button', 'flow', 'contact'].map((kind) => ({
      waMessageId: expect.any(String),
      from: 'erased',
      kind,
    })),
  )
  expect(JSON.stringify(await account.get('/api/v1/event').then(({ json }) => json()))).not.toContain('zqx-')
  const before = receiver.at(path).length
  await sql`update webhook_deliveries set due_at = now() where account_id = ${account.accountId}`.execute(
    server.deps.db,
  )
  const again = startWorker()
  await expect.poll(() => receiver.at(path).length).toBeGreaterThanOrEqual(before + storedReplies.length)
  await again.stop({ graceMilliseconds: 5_000 })
  expect(JSON.stringify(receiver.at(path).slice(before))).not.toContain('zqx-')
  expect(server.log.filter((line) => line.includes('zqx-'))).toEqual([])
})

test('erases what the responses of a removed endpoint quote, and no other responses', async () => {
  const account = await server.account()
  const [number, other] = [newNumber(), newNumber()]
  const path = '/removed'
  receiver.behave(({ body }, response) => void response.end(`got ${JSON.parse(body).data.reply.text}`), path)
  const { endpointId } = await addEndpoint(server.deps, account.accountId, {
    url: `${receiver.url}${path}`,
    events: ['message.replied'],
  })
  const worker = startWorker()
  for (const [to, word] of [
    [number, 'zqx-removed'],
    [other, 'zqx-stays'],
  ] as const) {
    const sent = await sendOne(account, { to })
    await postReplies(account, [userMessage(text(word), sent.waMessageId, { from: to })])
    await expect.poll(() => findText(word)).toEqual(expect.arrayContaining(['events', 'webhook_attempts']))
  }
  await worker.stop({ graceMilliseconds: 5_000 })
  await removeEndpoint(server.deps, account.accountId, endpointId)

  expect(await erase(server, number)).toMatchObject({ rows: { webhook_attempts: 1 }, complete: true })

  expect(await findText('zqx-removed')).toEqual([])
  expect(await findText('zqx-stays')).toContain('webhook_attempts')
  await erase(server, other)
  expect(await findText('zqx-stays')).toEqual([])
})

test('erases the answers of a recipient under a user ID that is not known to be theirs', async () => {
  const account = await server.account()
  const number = newNumber()
  const userId = 'ES.7300000000000001'
  const sent = await sendOne(account, { to: number })
  const { from: _hidden, ...message } = userMessage(text('zqx-hidden'), sent.waMessageId) as Record<string, unknown>
  await postReplies(account, [{ ...message, from_user_id: userId }])
  expect(await findText('zqx-hidden')).toEqual(['events'])

  await erase(server, number)

  expect(await findText('zqx-hidden')).toEqual([])
  const [event] = await listRecorded(server, account)
  expect(JSON.stringify(event)).not.toContain(userId)
})

test('erases what a person answered to a message that was sent to another recipient', async () => {
  const account = await server.account()
  const [number, other] = [newNumber(), newNumber()]
  const path = '/forwarded'
  receiver.behave(({ body }, response) => void response.end(echoReply(body)), path)
  await addEndpoint(server.deps, account.accountId, { url: `${receiver.url}${path}`, events: ['message.replied'] })
  const worker = startWorker()
  const sent = await sendOne(account, { to: other })
  await postReplies(account, [
    userMessage(text('zqx-forwarded'), sent.waMessageId, { from: number }),
    userMessage(text(`zqx-kept: my husband has +${number}`), sent.waMessageId, { from: other }),
  ])
  await expect.poll(() => findText('zqx-forwarded')).toEqual(expect.arrayContaining(['events', 'webhook_attempts']))
  await worker.stop({ graceMilliseconds: 5_000 })

  expect(await erase(server, number)).toMatchObject({ messages: 0, replies: 1, complete: true })

  expect(await findText('zqx-forwarded')).toEqual([])
  expect(await findText('zqx-kept: my husband has erased')).toContain('events')
})

test('erases the answers that remain from an erasure by an earlier version', async () => {
  const account = await server.account()
  const number = newNumber()
  const sent = await sendOne(account, { to: number })
  await postReplies(account, [userMessage(text('zqx-earlier'), sent.waMessageId, { from: number })])
  await sql`update messages set to_number = 'erased' where account_id = ${account.accountId}`.execute(server.deps.db)
  await sql`
    update events set payload = replace(payload, ${number}, 'erased') where account_id = ${account.accountId}`.execute(
    server.deps.db,
  )

  expect(await erase(server, newNumber(), account.accountId)).toMatchObject({ messages: 0, replies: 1, complete: true })

  expect(await findText('zqx-earlier')).toEqual([])
})
