import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { sendMessage } from '../../../contracts/api/message.ts'
import { report as reportStatuses, status } from '../../support/callbacks.ts'
import { forFile } from '../../support/lifetime.ts'
import { nodeForTest, startTestServer, type TestResponse, through } from '../../support/server.ts'

const path = '/api/v1/message/send'
const example = sendMessage.example.input

const server = await forFile(startTestServer({ requestLog: {} }))
const account = await server.account()

function sendsTo(number: string): number {
  return server.simulator.requests.filter(({ body }) => JSON.stringify(body).includes(`+${number}`)).length
}

/** How many requests the request log names for a message. */
async function countLogged(messageId: string): Promise<number> {
  const rows = await server.deps.db
    .selectFrom('api_requests')
    .select('id')
    .where('message_ids', '=', messageId)
    .execute()
  return rows.length
}

/** Moves the time of the first request with a key. */
async function moveKey(key: string, by: string): Promise<void> {
  const createdAt = sql<Date>`created_at + ${by}::interval`
  const update = server.deps.db.updateTable('idempotency_keys').set({ created_at: createdAt })
  await update.where('account_id', '=', account.accountId).where('key', '=', key).execute()
}

test('returns the same response to a retry and sends nothing', async () => {
  const to = '34600000001'
  const first = await account.post(path, { ...example, to }, { 'idempotency-key': 'order-1' })
  const retry = await account.post(path, { ...example, to }, { 'idempotency-key': 'order-1' })

  expect(first.headers['idempotent-replayed']).toBeUndefined()
  expect(retry.headers['idempotent-replayed']).toBe('true')
  expect(retry.json()).toEqual(first.json())
  expect(sendsTo(to)).toBe(1)
})

test('treats a quoted key and an unquoted one as the same key', async () => {
  const first = await account.post(path, example, { 'idempotency-key': '"order-2"' })
  const retry = await account.post(path, example, { 'idempotency-key': 'order-2' })

  expect(retry.json()).toEqual(first.json())
  expect(retry.headers['idempotent-replayed']).toBe('true')
})

test('ignores the order of the fields', async () => {
  const first = await account.post(
    path,
    { ...example, variables: { '1': 'a', '2': 'b' } },
    { 'idempotency-key': 'order-3' },
  )
  const { to, ...rest } = example
  const retry = await account.post(
    path,
    { ...rest, variables: { '2': 'b', '1': 'a' }, to },
    { 'idempotency-key': 'order-3' },
  )

  expect(retry.json()).toEqual(first.json())
})

test('rejects the same key with a different body', async () => {
  await account.post(path, example, { 'idempotency-key': 'order-4' })
  const other = await account.post(path, { ...example, externalId: 'another' }, { 'idempotency-key': 'order-4' })

  expect(other.statusCode).toBe(422)
  expect(other.json().error.code).toBe('IDEMPOTENCY_KEY_REUSED')
})

test('scopes a key to one account', async () => {
  const other = await server.account()
  const first = await account.post(path, example, { 'idempotency-key': 'order-5' })
  const second = await other.post(path, example, { 'idempotency-key': 'order-5' })

  expect(second.statusCode).toBe(200)
  expect(second.json().data['messageId']).not.toBe(first.json().data['messageId'])
})

test('sends once for concurrent requests with one key, even on two nodes', async () => {
  const node = await nodeForTest(server)
  const to = '34600000006'
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      (index % 2 === 0 ? account : through(node, account)).post(
        path,
        { ...example, to },
        { 'idempotency-key': 'order-6' },
      ),
    ),
  )

  expect(sendsTo(to)).toBe(1)
  const codes = responses.map((answer) => answer.json().error?.code ?? 'sent')
  expect(codes.every((code) => code === 'sent' || code === 'IDEMPOTENCY_KEY_IN_USE')).toBe(true)
  expect(codes).toContain('sent')
  // Half of the requests went to the node with a log, which names the message for those that were answered 409, too.
  const ids = responses.flatMap((answer) => answer.json().data?.['messageId'] ?? [])
  await expect.poll(() => countLogged(String(ids[0]))).toBe(10)
})

test('reports a key as in use with Retry-After while its first request waits for WhatsApp', async () => {
  const to = '34600111777'
  const answered = Promise.withResolvers<undefined>()
  server.simulator.intercept(() => answered.promise)
  const first = account.post(path, { ...example, to }, { 'idempotency-key': 'order-7' })
  await expect.poll(() => sendsTo(to)).toBe(1)

  const second = await account.post(path, { ...example, to }, { 'idempotency-key': 'order-7' })

  expect(second.statusCode).toBe(409)
  expect(second.json().error.code).toBe('IDEMPOTENCY_KEY_IN_USE')
  expect(second.headers['retry-after']).toBe('1')
  answered.resolve(undefined)
  expect((await first).statusCode).toBe(200)
  server.simulator.intercept(undefined)
})

test('replays a permanent rejection', async () => {
  const to = '15550131026'
  const first = await account.post(path, { ...example, to }, { 'idempotency-key': 'order-8' })
  const retry = await account.post(path, { ...example, to }, { 'idempotency-key': 'order-8' })

  expect(first.json().error.code).toBe('MESSAGE_REJECTED')
  expect(retry.json()).toEqual(first.json())
  expect(retry.headers['idempotent-replayed']).toBe('true')
  expect(sendsTo(to)).toBe(1)
})

test('allows a retry to send if nothing was sent before', async () => {
  const to = '15550131016'
  const first = await account.post(path, { ...example, to }, { 'idempotency-key': 'order-9' })
  expect(first.json().error.code).toBe('WHATSAPP_UNAVAILABLE')
  const sent = sendsTo(to)

  const retry = await account.post(path, { ...example, to }, { 'idempotency-key': 'order-9' })

  expect(retry.headers['idempotent-replayed']).toBeUndefined()
  expect(sendsTo(to)).toBeGreaterThan(sent)
})

test('keeps the key free if no message was recorded', async () => {
  const wrong = await account.post(path, { ...example, variables: {} }, { 'idempotency-key': 'order-10' })
  expect(wrong.json().error.code).toBe('VALIDATION_ERROR')

  const right = await account.post(path, example, { 'idempotency-key': 'order-10' })
  expect(right.statusCode).toBe(200)
})

test('never sends again after an unknown outcome and reports the outcome once it is known', async () => {
  const to = '15559000004'
  const headers = { 'idempotency-key': 'order-11' }
  const first = await account.post(path, { ...example, to, externalId: 'order-11' }, headers)
  expect(first.json().error.code).toBe('SEND_OUTCOME_UNKNOWN')

  expect((await account.post(path, { ...example, to, externalId: 'order-11' }, headers)).json().error.code).toBe(
    'IDEMPOTENCY_KEY_IN_USE',
  )
  await moveKey('order-11', '-2 minutes')
  const later = await account.post(path, { ...example, to, externalId: 'order-11' }, headers)
  expect(later.json().error).toMatchObject({ code: 'SEND_OUTCOME_UNKNOWN' })
  expect(later.headers['idempotent-replayed']).toBe('true')

  await sql`update messages set status = 'delivered', wa_message_id = 'wamid.X' where account_id = ${account.accountId} and external_id = 'order-11'`.execute(
    server.deps.db,
  )
  const settled = await account.post(path, { ...example, to, externalId: 'order-11' }, headers)
  expect(settled.json()).toMatchObject({ success: true, data: { waMessageId: 'wamid.X', externalId: 'order-11' } })
  expect(sendsTo(to)).toBe(1)
})

test('does not report a key as in use for an hour after the clock was set back', async () => {
  const to = '15559000004'
  const headers = { 'idempotency-key': 'order-of-another-time' }
  await account.post(path, { ...example, to }, headers)
  await moveKey('order-of-another-time', '1 hour')

  const retry = await account.post(path, { ...example, to }, headers)

  expect(retry.json().error.code).toBe('SEND_OUTCOME_UNKNOWN')
})

function report(
  messageId: string,
  waMessageId: string,
  ...statuses: ('sent' | 'delivered' | 'read' | 'failed')[]
): Promise<void> {
  const errors = [{ code: 131026, title: 'Message undeliverable', error_data: { details: 'Not on WhatsApp.' } }]
  const reports = statuses.map((name) =>
    status(name, waMessageId, { callbackData: messageId, ...(name === 'failed' && { errors }) }),
  )
  return reportStatuses(server, account, reports)
}

/** Sends a message without a response, so that only its statuses reveal the outcome. */
async function sendUnanswered(reference: string): Promise<{ messageId: string; retry: () => Promise<TestResponse> }> {
  const request = { ...example, to: '15559000004', externalId: reference }
  const retry = () => account.post(path, request, { 'idempotency-key': reference })
  expect((await retry()).json().error.code).toBe('SEND_OUTCOME_UNKNOWN')
  const { id } = await server.deps.db
    .selectFrom('messages')
    .select('id')
    .where('account_id', '=', account.accountId)
    .where('external_id', '=', reference)
    .executeTakeFirstOrThrow()
  return { messageId: id, retry }
}

test('reports the failure to a retry after an unknown outcome', async () => {
  const unanswered = await sendUnanswered('order-14')

  await report(unanswered.messageId, 'wamid.order14', 'failed')
  const retry = await unanswered.retry()

  expect(retry.json().error).toMatchObject({
    code: 'MESSAGE_REJECTED',
    message: expect.stringMatching(
      /^WhatsApp reported that this message failed \(131026\): Not on WhatsApp\. .*Check the number/,
    ),
  })
  expect(retry.headers['idempotent-replayed']).toBe('true')
})

test.each([
  { order: ['sent', 'failed', 'delivered'], ends: 'delivered' },
  { order: ['failed', 'sent', 'delivered'], ends: 'delivered' },
  { order: ['failed', 'delivered', 'sent'], ends: 'delivered' },
  { order: ['failed', 'delivered'], ends: 'delivered' },
  { order: ['failed', 'read'], ends: 'read' },
  { order: ['delivered', 'failed'], ends: 'delivered' },
] as const)('returns the final state to a retry when WhatsApp reports $order', async ({ order, ends }) => {
  for (const together of [true, false]) {
    const reference = `${order.join('-')}-${together}`
    const { messageId, retry } = await sendUnanswered(reference)
    const waMessageId = `wamid.${reference}`
    if (together) await report(messageId, waMessageId, ...order)
    else
      for (const status of order) {
        await report(messageId, waMessageId, status)
        await retry()
      }
    const answer = await retry()
    expect(answer.json()).toMatchObject({ success: true, data: { messageId, waMessageId, status: 'sent' } })
    expect((await account.get(`/api/v1/message/${messageId}`)).json().data['status']).toBe(ends)
  }
})

test('replays the success of a message that failed after its acceptance', async () => {
  const headers = { 'idempotency-key': 'order-15' }
  const first = await account.post(path, example, headers)
  const { messageId, waMessageId } = first.json().data as { messageId: string; waMessageId: string }

  await report(messageId, waMessageId, 'failed')
  const retry = await account.post(path, example, headers)

  expect((await account.get(`/api/v1/message/${messageId}`)).json().data['status']).toBe('failed')
  expect(retry.statusCode).toBe(200)
  expect(retry.json()).toEqual(first.json())
})

test('frees a key after a day', async () => {
  const first = await account.post(path, example, { 'idempotency-key': 'order-12' })
  await moveKey('order-12', '-25 hours')
  const second = await account.post(path, { ...example, externalId: 'new' }, { 'idempotency-key': 'order-12' })

  expect(second.statusCode).toBe(200)
  expect(second.json().data['messageId']).not.toBe(first.json().data['messageId'])
})

test('replays a stored result even if the template can no longer be sent', async () => {
  await account.template({ name: 'short_lived', body: 'Hello.' })
  const request = { to: example.to, template: 'short_lived', language: 'en' }
  const first = await account.post(path, request, { 'idempotency-key': 'order-13' })
  await account.template({ name: 'short_lived', body: 'Hello.', status: 'PAUSED' })

  const retry = await account.post(path, request, { 'idempotency-key': 'order-13' })
  expect(retry.json()).toEqual(first.json())
})

test.each(['', '""', 'x'.repeat(256), 'cl\u00e9'])('rejects the key %j', async (key) => {
  const response = await account.post(path, example, { 'idempotency-key': key })
  expect(response.json().error).toMatchObject({
    code: 'VALIDATION_ERROR',
    message: expect.stringMatching(/^Idempotency-Key: /),
  })
})
