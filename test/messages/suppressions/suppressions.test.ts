import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { listStoredSecrets } from '../../../src/cli/stored-secrets.ts'
import { setSuppressedCategories } from '../../../src/messages/suppressions/check.ts'
import { post, report, sendOne, status } from '../../support/callbacks.ts'
import { erase } from '../../support/erase.ts'
import { exampleSend } from '../../support/example-send.ts'
import { forFile, forTest } from '../../support/lifetime.ts'
import { lockWaits } from '../../support/lock-waits.ts'
import { signedInOwner } from '../../support/user.ts'
import {
  newWamid,
  listRecorded,
  preferencesCallback,
  repliesCallback,
  replyTime,
  tap,
  text,
  userMessage,
} from '../../support/replies.ts'
import { applyChoices } from '../../../src/messages/suppressions/choices-store.ts'
import { findHashKey, readHashKey } from '../../../src/messages/suppressions/number-key.ts'
import { createSecretBox } from '../../../src/platform/secrets.ts'
import { nodeForTest, startTestServer, type TestAccount, through } from '../../support/server.ts'

const sale = { name: 'summer_sale', category: 'MARKETING', components: [{ type: 'BODY', text: 'It is summer.' }] }
const marketing = { to: exampleSend.to, template: sale.name, language: 'en' }

const server = await forFile(startTestServer())
let account: TestAccount
beforeEach(async () => {
  account = await server.account()
  await account.template(sale)
})

async function receiveMessages(messages: object[]): Promise<void> {
  expect((await post(server, repliesCallback(account.phoneNumberId, messages))).statusCode).toBe(200)
}

async function setPreference(value: string, timestamp = replyTime): Promise<void> {
  const callback = preferencesCallback(account.phoneNumberId, [{ wa_id: exampleSend.to, value, timestamp }])
  expect((await post(server, callback)).statusCode).toBe(200)
}

async function listSuppressed(): Promise<unknown[]> {
  return (await account.trpc.suppression.list.query({})).items.map(({ to, reason }) => [to, reason])
}

const upstreamSends = () => server.simulator.requests.filter(({ path }) => path.endsWith('/messages')).length

test('rejects only MARKETING templates to a recipient who replied STOP', async () => {
  const { messageId, waMessageId } = await sendOne(account, { externalId: 'order-9' })
  await receiveMessages([userMessage(text('Stop.'), waMessageId)])
  const before = upstreamSends()

  const refused = await account.post('/api/v1/message/send', marketing)
  const preview = await account.post('/api/v1/message/preview', marketing)

  expect([refused.statusCode, preview.statusCode]).toEqual([422, 422])
  expect(refused.json().error).toEqual({
    code: 'RECIPIENT_SUPPRESSED',
    field: 'to',
    message: expect.stringMatching(
      /^to: .* suppression list since 2026.* \(reason: reply\)\. MARKETING templates .* Nothing was sent\.$/,
    ),
  })
  expect(preview.json().error.code).toBe('RECIPIENT_SUPPRESSED')
  expect(upstreamSends()).toBe(before)
  // Neither is recorded.
  expect((await account.get('/api/v1/message?template=summer_sale')).json().data['items']).toEqual([])
  await sendOne(account)
  await sendOne(account, { ...marketing, variables: undefined, to: '34600111333' })
  expect(await listSuppressed()).toEqual([[exampleSend.to, 'reply']])
  const events = await listRecorded(server, account)
  expect(events.map(({ type }) => type)).toEqual(['message.replied', 'recipient.opted_out'])
  expect(events[1]?.data).toEqual({
    to: exampleSend.to,
    accountId: account.whatsAppAccountId,
    reason: 'reply',
    messageId,
    externalId: 'order-9',
  })
})

test('rejects messages of every category to recipients with all messages suppressed', async () => {
  await account.trpc.suppression.add.mutate({ to: exampleSend.to })
  await sendOne(account)
  const code = { to: exampleSend.to, template: 'login_code', language: 'en', code: '481516' }
  expect((await account.post('/api/v1/code/send', code)).statusCode).toBe(200)

  const again = await account.trpc.suppression.add.mutate({ to: exampleSend.to, allMessages: true })

  expect(again).toMatchObject({ added: false, allMessages: true, reason: 'manual' })
  const refused = await account.post('/api/v1/message/send', exampleSend)
  expect(refused.json().error).toEqual({
    code: 'RECIPIENT_SUPPRESSED',
    field: 'to',
    message: expect.stringMatching(/\(reason: added manually\)\. No messages are sent to them\. Nothing was sent\.$/),
  })
  const refusedCode = await account.post('/api/v1/code/send', { ...code, purpose: 'other' })
  expect(refusedCode.json().error.code).toBe('RECIPIENT_SUPPRESSED')
  // Other recipients, on the list or not, still receive the categories that the account does not suppress.
  await account.trpc.suppression.add.mutate({ to: '34600111333' })
  await sendOne(account, { to: '34600111333' })
  await sendOne(account, { to: '34600111444' })
})

test('rejects numbers that cannot be complete, except those that WhatsApp has reported', async () => {
  const incomplete = '600111222'
  const add = (to: string) => account.post('/api/v1/suppression/add', { to, allMessages: true })
  const importAll = (recipients: string[]) => account.post('/api/v1/suppression/import', { recipients })
  const problem =
    'start with the country code, such as 34 for Spain: the number has 9 digits, but numbers with the country code 60 have 10 to 12'

  const added = await add(incomplete)
  const imported = await importAll([exampleSend.to, 'ES.2041776300912345', incomplete])

  expect([added.statusCode, imported.statusCode]).toEqual([400, 400])
  expect(added.json().error).toEqual({ code: 'VALIDATION_ERROR', field: 'to', message: `to: ${problem}` })
  expect(imported.json().error).toEqual({
    code: 'VALIDATION_ERROR',
    field: 'recipients.2',
    message: `recipients[2]: ${problem}`,
  })
  expect((await add('2125551234')).json().error.message).toMatch(
    /^to: start with the country code, such as 1 for .* has 10 digits, .* country code 212 have 12$/,
  )
  expect(await listSuppressed()).toEqual([])

  const { waMessageId } = await sendOne(account)
  const recipient = { recipient_id: incomplete }
  await report(server, account, [status('delivered', waMessageId, { recipient })])

  expect((await add(incomplete)).statusCode).toBe(200)
  expect((await importAll([incomplete])).json().data).toEqual({ added: 0, alreadySuppressed: 1 })
})

test('keeps all messages suppressed when the recipient opts out or in, until the entry is removed', async () => {
  await account.trpc.suppression.import.mutate({ recipients: [exampleSend.to], allMessages: true })
  await receiveMessages([userMessage(text('STOP'), undefined, { at: replyTime })])
  await receiveMessages([userMessage(text('START'), undefined, { at: replyTime + 10 })])
  await account.trpc.suppression.add.mutate({ to: exampleSend.to })
  expect((await account.trpc.suppression.list.query({})).items).toMatchObject([{ allMessages: true }])

  await account.trpc.suppression.remove.mutate({ to: exampleSend.to })
  await account.trpc.suppression.add.mutate({ to: exampleSend.to })

  expect((await account.trpc.suppression.list.query({})).items).toMatchObject([{ allMessages: false }])
  await sendOne(account)
})

test('keeps all messages to an erased recipient suppressed', async () => {
  await account.trpc.suppression.add.mutate({ to: exampleSend.to, allMessages: true })
  await erase(server, exampleSend.to, account.accountId)

  expect((await account.post('/api/v1/message/send', exampleSend)).json().error.code).toBe('RECIPIENT_SUPPRESSED')
  expect((await account.trpc.suppression.list.query({ to: exampleSend.to })).items).toMatchObject([
    { allMessages: true },
  ])
  await account.trpc.suppression.add.mutate({ to: exampleSend.to })
  expect((await account.trpc.suppression.list.query({})).items).toMatchObject([
    { to: exampleSend.to, allMessages: true },
  ])
})

test('checks each recipient of concurrent sends', async () => {
  const stopped = ['34600222001', '34600222003']
  await account.trpc.suppression.import.mutate({ recipients: stopped, allMessages: true })
  await account.trpc.suppression.add.mutate({ to: '34600222002' })
  const numbers = Array.from({ length: 12 }, (_, index) => `3460022200${index % 6}`)

  const responses = await Promise.all(numbers.map((to) => account.post('/api/v1/message/send', { ...exampleSend, to })))

  expect(responses.map(({ statusCode }) => statusCode)).toEqual(numbers.map((to) => (stopped.includes(to) ? 422 : 200)))
})

test.each([
  { content: text('STOP'), out: true },
  { content: text(' stop! '), out: true },
  { content: text('Arrêt'), out: true },
  { content: text('ARRE\u0302T'), out: true },
  { content: text('Baja'), out: true },
  { content: text('Unsubscribe'), out: true },
  { content: text('STOP .'), out: true },
  { content: text('\u201cSTOP\u201d'), out: true },
  { content: text("'stop'."), out: true },
  { content: text('\u200eSTOP\u200b'), out: true },
  { content: text('\uff33\uff34\uff2f\uff30'), out: true },
  { content: text('\u00a1Baja!'), out: true },
  { content: text('opt\u00a0 out'), out: true },
  { content: text('stop?'), out: false },
  { content: text('Please stop'), out: false },
  { content: text('stop it'), out: false },
  { content: text('cancel'), out: false },
  { content: text('no'), out: false },
  { content: text('stop'.repeat(200_000)), out: false },
])('treats $content.text.body as an opt-out: $out', async ({ content, out }) => {
  await receiveMessages([userMessage(content, undefined)])
  expect(await listSuppressed()).toEqual(out ? [[exampleSend.to, 'reply']] : [])
})

test('treats a tap on a button with such a label or payload as an opt-out', async () => {
  const { waMessageId } = await sendOne(account)
  await receiveMessages([userMessage(tap('Yes', 'yes'), waMessageId)])
  expect(await listSuppressed()).toEqual([])

  await receiveMessages([userMessage(tap('No more of this', 'STOP'), waMessageId)])

  expect(await listSuppressed()).toEqual([[exampleSend.to, 'reply']])
})

test('applies an opt-out by a button of an unknown message, which may be deleted, but no opt-in', async () => {
  await receiveMessages([userMessage(tap('Stop promotions', 'x'), newWamid(), { at: replyTime })])
  expect(await listSuppressed()).toEqual([[exampleSend.to, 'reply']])

  await receiveMessages([userMessage(tap('START'), newWamid(), { at: replyTime + 10 })])
  expect(await listSuppressed()).toEqual([[exampleSend.to, 'reply']])
  expect(await listRecorded(server, account)).toMatchObject([
    { type: 'recipient.opted_out', data: { to: exampleSend.to, reason: 'reply' } },
  ])

  const { waMessageId } = await sendOne(account)
  await receiveMessages([userMessage(tap('START'), waMessageId, { at: replyTime + 20 })])
  expect(await listSuppressed()).toEqual([])
})

test('never treats the response of a flow as an opt-out', async () => {
  const { waMessageId } = await sendOne(account)
  const flow = { type: 'nfm_reply', nfm_reply: { name: 'flow', body: 'STOP', response_json: 'STOP' } }
  await receiveMessages([userMessage({ type: 'interactive', interactive: flow }, waMessageId)])
  expect(await listSuppressed()).toEqual([])
})

test('ends an opt-out by START, in whichever order both arrive', async () => {
  await receiveMessages([userMessage(text('STOP'), undefined, { at: replyTime })])
  await receiveMessages([userMessage(text('START'), undefined, { at: replyTime + 10 })])
  expect(await listSuppressed()).toEqual([])
  await receiveMessages([userMessage(text('STOP'), undefined, { at: replyTime + 5 })])
  expect(await listSuppressed()).toEqual([])
  await sendOne(account, { ...marketing, variables: undefined })

  await receiveMessages([
    userMessage(text('STOP'), undefined, { at: replyTime + 20 }),
    userMessage(text('START'), undefined, { at: replyTime + 20 }),
    userMessage(text('STOP'), undefined, { at: replyTime + 20 }),
  ])
  expect(await listSuppressed()).toEqual([[exampleSend.to, 'reply']])
  const events = await listRecorded(server, account)
  expect(events.map(({ type }) => type.slice('recipient.'.length))).toEqual([
    'opted_out',
    'opted_in',
    'opted_out',
    'opted_in',
    'opted_out',
  ])
})

test('ignores START from a recipient who never opted out', async () => {
  await receiveMessages([userMessage(text('START'), undefined)])
  expect(await listRecorded(server, account)).toEqual([])
})

test('applies the preference for marketing messages in WhatsApp', async () => {
  await setPreference('stop')
  await setPreference('stop')
  expect(await listSuppressed()).toEqual([[exampleSend.to, 'preference']])
  // A text does not end an opt-out chosen in WhatsApp.
  await receiveMessages([userMessage(text('START'), undefined, { at: replyTime + 5 })])
  expect(await listSuppressed()).toEqual([[exampleSend.to, 'preference']])

  await setPreference('resume', replyTime + 10)
  await setPreference('stop', replyTime)
  await setPreference('whatever', replyTime + 20)

  expect(await listSuppressed()).toEqual([])
  expect((await listRecorded(server, account)).map(({ type, data }) => [type, data['reason']])).toEqual([
    ['recipient.opted_out', 'preference'],
    ['recipient.opted_in', 'preference'],
  ])
})

test('START does not end a choice made in WhatsApp after STOP', async () => {
  await receiveMessages([userMessage(text('STOP'), undefined)])
  await setPreference('stop', replyTime + 5)
  expect(await listSuppressed()).toEqual([[exampleSend.to, 'preference']])

  await receiveMessages([userMessage(text('START'), undefined, { at: replyTime + 10 })])

  expect(await listSuppressed()).toEqual([[exampleSend.to, 'preference']])
  expect((await listRecorded(server, account)).map(({ type }) => type)).toEqual(['recipient.opted_out'])
})

async function expectRejected(to: string): Promise<void> {
  expect(await listSuppressed()).toEqual([[to, 'rejected']])
  const again = await account.post('/api/v1/message/send', { ...marketing, to })
  expect(again.json().error.code).toBe('RECIPIENT_SUPPRESSED')
  expect(await listRecorded(server, account)).toMatchObject([
    { type: 'recipient.opted_out', data: { to, reason: 'rejected', messageId: expect.stringMatching(/^msg_/) } },
  ])
}

test('suppresses a recipient whose message WhatsApp rejects with 131050 at once', async () => {
  const to = '15550131050'
  const response = await account.post('/api/v1/message/send', { ...marketing, to })
  expect(response.json().error.code).toBe('MESSAGE_REJECTED')
  await expectRejected(to)
})

test('suppresses a recipient whose message fails with 131050 later', async () => {
  const to = '15550100200'
  const { waMessageId, messageId } = await sendOne(account, { ...marketing, variables: undefined, to })
  const errors = [{ code: 131_050, title: 'User has opted out' }]
  const failed = status('failed', waMessageId, { callbackData: messageId, errors })
  await report(server, account, [failed, failed])
  await expectRejected(to)
})

test('recognizes a recipient whose number WhatsApp spells differently', async () => {
  const { waMessageId } = await sendOne(account, { to: '5215512345678' })
  await receiveMessages([userMessage(text('STOP'), waMessageId, { from: '525512345678' })])
  await receiveMessages([userMessage(text('STOP'), undefined, { from: '551187654321' })])

  for (const to of ['5215512345678', '525512345678', '5511987654321', '551187654321'])
    expect((await account.post('/api/v1/message/send', { ...marketing, to })).statusCode).toBe(422)
  expect(await listSuppressed()).toHaveLength(2)
})

test('adds, lists, imports and removes recipients', async () => {
  const added = await account.post('/api/v1/suppression/add', { to: '34600000001' })
  expect(added.json().data).toEqual({
    to: '34600000001',
    reason: 'manual',
    since: expect.any(String),
    allMessages: false,
    added: true,
  })
  expect((await account.trpc.suppression.add.mutate({ to: '34600000001' })).added).toBe(false)
  const recipients = ['34600000001', '34600000002', '34600000003', '34600000003']
  expect(await account.trpc.suppression.import.mutate({ recipients })).toEqual({ added: 2, alreadySuppressed: 2 })

  const first = await account.trpc.suppression.list.query({ limit: 2 })
  const second = await account.trpc.suppression.list.query({ limit: 2, cursor: first.nextCursor ?? '' })
  expect(second.nextCursor).toBeUndefined()
  const all = [...first.items, ...second.items].map(({ to }) => to)
  expect(all.toSorted()).toEqual(['34600000001', '34600000002', '34600000003'])
  expect((await account.get('/api/v1/suppression?to=34600000002')).json().data['items']).toMatchObject([
    { to: '34600000002', reason: 'import' },
  ])
  expect((await account.get('/api/v1/suppression?reason=reply')).json().data['items']).toEqual([])

  expect(await account.trpc.suppression.remove.mutate({ to: '34600000002' })).toEqual({
    to: '34600000002',
    removed: true,
  })
  expect(await account.trpc.suppression.remove.mutate({ to: '34600000002' })).toEqual({
    to: '34600000002',
    removed: false,
  })
  await sendOne(account, { ...marketing, variables: undefined, to: '34600000002' })
  // Changes by users emit no webhooks.
  expect(await listRecorded(server, account)).toEqual([])
})

test('imports all numbers or none', async () => {
  const answer = await account.post('/api/v1/suppression/import', { recipients: ['34600000001', '+34 600'] })
  expect(answer.statusCode).toBe(400)
  expect(answer.json().error.message).toMatch(/^recipients\[1\]: must be the country code.* or a user ID/)
  const lowerCase = { recipients: ['ES.2041776300912345', 'es.2041776300912345'] }
  expect((await account.post('/api/v1/suppression/import', lowerCase)).statusCode).toBe(400)
  const tooMany = Array.from({ length: 1_001 }, (_, n) => `3460000${String(n).padStart(4, '0')}`)
  expect((await account.post('/api/v1/suppression/import', { recipients: tooMany })).statusCode).toBe(400)
  expect((await account.post('/api/v1/suppression/import', { recipients: [] })).statusCode).toBe(400)
  expect(await listSuppressed()).toEqual([])
})

test('imports user IDs beside numbers, and knows the person whose number is listed', async () => {
  const { waMessageId } = await sendOne(account)
  const recipient = { recipient_id: exampleSend.to, recipient_user_id: 'ES.1001' }
  await report(server, account, [status('delivered', waMessageId, { recipient })])
  const recipients = [exampleSend.to, 'ES.1001', 'ES.ENT.1002']

  const response = await account.post('/api/v1/suppression/import', { recipients })

  expect(response.json().data).toEqual({ added: 2, alreadySuppressed: 1 })
  expect(await listSuppressed()).toEqual(
    expect.arrayContaining([
      [exampleSend.to, 'import'],
      ['ES.ENT.1002', 'import'],
    ]),
  )
  for (const name of [{ to: exampleSend.to }, { recipient: 'ES.1001' }, { recipient: 'ES.ENT.1002' }]) {
    const { statusCode } = await account.post('/api/v1/message/send', { ...marketing, to: undefined, ...name })
    expect(statusCode).toBe(422)
  }
})

test('keeps the lists of accounts apart', async () => {
  const other = await server.account()
  await account.trpc.suppression.add.mutate({ to: exampleSend.to })
  expect((await other.trpc.suppression.list.query({})).items).toEqual([])
  expect(await other.trpc.suppression.remove.mutate({ to: exampleSend.to })).toMatchObject({ removed: false })
  expect(await listSuppressed()).toEqual([[exampleSend.to, 'manual']])
})

test('keeps an entry that a user added until a user removes it', async () => {
  await receiveMessages([userMessage(text('STOP'), undefined, { at: replyTime })])
  await account.trpc.suppression.add.mutate({ to: exampleSend.to })
  await receiveMessages([userMessage(text('START'), undefined, { at: Math.ceil(Date.now() / 1000) + 60 })])
  await setPreference('resume', Math.ceil(Date.now() / 1000) + 60)
  expect(await listSuppressed()).toEqual([[exampleSend.to, 'manual']])
})

test.each([
  { title: 'a removal', change: async () => {} },
  {
    title: 'an addition and a removal',
    change: async () => {
      await account.trpc.suppression.add.mutate({ to: exampleSend.to })
      await account.trpc.suppression.add.mutate({ to: exampleSend.to })
    },
  },
])('ignores an older STOP that WhatsApp repeats after $title', async ({ change }) => {
  const stop = userMessage(text('STOP'), undefined)
  await receiveMessages([stop])
  await change()
  await account.trpc.suppression.remove.mutate({ to: exampleSend.to })
  await receiveMessages([stop])
  await setPreference('stop', replyTime)
  expect(await listSuppressed()).toEqual([])
})

test('rejects other categories that the account chooses', async () => {
  await account.trpc.suppression.add.mutate({ to: exampleSend.to })
  await setSuppressedCategories(server.deps, account.accountId, ['UTILITY'])

  const utility = await account.post('/api/v1/message/send', exampleSend)
  expect(utility.json().error).toMatchObject({ code: 'RECIPIENT_SUPPRESSED' })
  expect(utility.json().error.message).toContain('UTILITY')
  expect((await account.post('/api/v1/message/send', marketing)).statusCode).toBe(422)
  await sendOne(account, { template: 'login_code', variables: undefined, code: '123456' })

  await setSuppressedCategories(server.deps, account.accountId, [])
  await sendOne(account)
  expect((await account.post('/api/v1/message/send', marketing)).statusCode).toBe(422)
})

test('rejects every send that starts after an addition, on every node', async () => {
  const node = await nodeForTest(server)
  for (let n = 0; n < 10; n++) {
    const to = `346000002${String(n).padStart(2, '0')}`
    const sends = Array.from({ length: 4 }, () => account.post('/api/v1/message/send', { ...marketing, to }))
    await account.trpc.suppression.add.mutate({ to })
    const late = await through(node, account).post('/api/v1/message/send', { ...marketing, to })
    expect(late.statusCode).toBe(422)
    const early = (await Promise.all(sends)).map(({ statusCode }) => statusCode)
    expect(early.every((code) => code === 200 || code === 422)).toBe(true)
  }
})

test('replays a send that happened before its recipient opted out', async () => {
  const headers = { 'idempotency-key': 'sale-1' }
  const sent = await account.post('/api/v1/message/send', marketing, headers)
  await account.trpc.suppression.add.mutate({ to: exampleSend.to })

  const retry = await account.post('/api/v1/message/send', marketing, headers)
  const another = await account.post('/api/v1/message/send', marketing, { 'idempotency-key': 'sale-2' })

  expect(retry.json().data).toEqual(sent.json().data)
  expect(another.statusCode).toBe(422)
})

test('lets owners change the list in the dashboard and viewers read it', async () => {
  const owner = await signedInOwner(server, account.accountId)
  const viewer = await signedInOwner(server, account.accountId, { role: 'viewer' })
  const { accountId } = account

  await owner.mutate('suppression.import', { accountId, recipients: ['34600000001', '34600000002'] })
  await owner.mutate('suppression.add', { accountId, to: '34600000003' })
  await owner.mutate('suppression.remove', { accountId, to: '34600000001' })
  const saved = await owner.mutate('suppression.setCategories', { accountId, categories: ['AUTHENTICATION'] })

  expect(saved.data).toEqual({ categories: ['MARKETING', 'AUTHENTICATION'] })
  const { data } = await viewer.query<{ items: { to: string }[] }>('suppression.list', { accountId })
  expect(data.items.map(({ to }) => to)).toEqual(['34600000003', '34600000002'])
  expect((await viewer.query('suppression.settings', { accountId })).data).toEqual(saved.data)
  const log = await owner.query<{ items: { what: string }[] }>('audit.list', { accountId })
  const descriptions = log.data.items.map(({ what }) => what)
  expect(descriptions).toEqual(
    expect.arrayContaining([
      'added 2 recipients to the suppression list',
      'added 1 recipient to the suppression list',
      'removed a recipient from the suppression list',
    ]),
  )
  expect(descriptions.join()).not.toContain('34600')
})

test('tells users who added a recipient, until the recipient decides', async () => {
  const { accountId } = account
  const owner = await signedInOwner(server, accountId)
  const listed = async () => {
    type Listed = { items: { to: string; addedBy?: string; facts?: object }[] }
    const { data } = await owner.query<Listed>('suppression.list', { accountId })
    return data.items.map(({ to, addedBy, facts }) => [to, addedBy, facts]).toSorted()
  }
  await receiveMessages([userMessage(text('STOP'), undefined)])
  await account.trpc.suppression.add.mutate({ to: '34600000001' })
  await account.trpc.suppression.import.mutate({ recipients: ['34600000002'] })
  await owner.mutate('suppression.add', { accountId, to: '34600000003' })

  const byApiKey = ['API key', { addedBy: { code: 'actor.apiKey' } }]
  expect(await listed()).toEqual([
    ['34600000001', ...byApiKey],
    ['34600000002', ...byApiKey],
    ['34600000003', owner.email, undefined],
    [exampleSend.to, undefined, undefined],
  ])
  expect(JSON.stringify(await account.trpc.suppression.list.query({}))).not.toContain('addedBy')

  // The latest decision of a user counts, and a recipient never gets one of their entries.
  await owner.mutate('suppression.add', { accountId, to: exampleSend.to })
  await owner.mutate('suppression.add', { accountId, to: '34600000001' })
  await receiveMessages([
    userMessage(text('STOP'), undefined, { from: '34600000002', at: Math.ceil(Date.now() / 1000) }),
  ])
  await owner.mutate('suppression.remove', { accountId, to: '34600000003' })
  await setPreference('stop', Math.ceil(Date.now() / 1000) + 60)
  await erase(server, '34600000001', accountId)
  expect(await listed()).toEqual([
    ['34600000002', ...byApiKey],
    [exampleSend.to, owner.email, undefined],
    ['erased', owner.email, undefined],
  ])
})

test('erases the entry of an erased recipient, and adds none after a late rejection', async () => {
  const to = '34600777001'
  const { waMessageId, messageId } = await sendOne(account, { ...marketing, variables: undefined, to })
  await account.trpc.code.send.mutate({ to, template: 'login_code', language: 'en' })
  await receiveMessages([userMessage(text('STOP'), waMessageId, { from: to })])
  expect(await listSuppressed()).toEqual([[to, 'reply']])

  const { rows, complete } = await erase(server, to)
  const errors = [{ code: 131_050, title: 'User has opted out' }]
  await report(server, account, [status('failed', waMessageId, { callbackData: messageId, errors })])

  expect(complete).toBe(true)
  expect(rows).toMatchObject({ suppressions: 1, one_time_codes: 1 })
  expect(await listSuppressed()).toEqual([['erased', 'reply']])
})

/** Sends a template that is rejected for suppressed recipients. */
const sendMarketing = (to: string, from = account) =>
  from.post('/api/v1/message/send', { ...marketing, variables: undefined, to })

async function storedSuppressions(): Promise<string> {
  const rows = await server.deps.db
    .selectFrom('suppressions')
    .selectAll()
    .orderBy('account_id')
    .orderBy('number_key')
    .execute()
  return JSON.stringify(rows)
}

test.each([
  { country: 'Spain', first: '34600777010', second: '34600777010' },
  { country: 'Mexico', first: '5215599970010', second: '525599970010' },
  { country: 'Brazil', first: '551199970010', second: '5511999970010' },
  { country: 'Ivory Coast', first: '22507970010', second: '2250707970010' },
])('keeps an erased recipient in $country opted out without the number', async ({ first, second }) => {
  const { accountId } = account
  await account.trpc.suppression.add.mutate({ to: first })

  expect(await erase(server, second)).toMatchObject({
    accountIds: [accountId],
    rows: { suppressions: 1 },
    complete: true,
  })

  expect(await storedSuppressions()).not.toMatch(new RegExp(`${first}|${second}`))
  for (const to of [first, second]) {
    const refused = await sendMarketing(to)
    expect(refused.json()).toMatchObject({ success: false, error: { code: 'RECIPIENT_SUPPRESSED' } })
    const previewed = await account.post('/api/v1/message/preview', { ...marketing, variables: undefined, to })
    expect(previewed.json()).toMatchObject({ error: { code: 'RECIPIENT_SUPPRESSED' } })
    expect(await account.trpc.suppression.list.query({ to })).toMatchObject({ items: [{ to: 'erased' }] })
  }
  expect(await listSuppressed()).toEqual([['erased', 'manual']])
  // A second erasure finds and changes nothing.
  expect(await erase(server, first)).toMatchObject({ accountIds: [], rows: {} })
  expect((await sendMarketing(first)).statusCode).toBe(422)

  expect(await account.trpc.suppression.remove.mutate({ to: second })).toEqual({ to: second, removed: true })
  expect(await account.trpc.suppression.remove.mutate({ to: second })).toEqual({ to: second, removed: false })
  expect(await listSuppressed()).toEqual([])
  expect((await sendMarketing(first)).statusCode).toBe(200)
})

test('removes an erased person under all their names', async () => {
  const { waMessageId } = await sendOne(account)
  const recipient = { recipient_id: exampleSend.to, recipient_user_id: 'ES.1001' }
  await report(server, account, [status('delivered', waMessageId, { recipient })])
  await account.trpc.suppression.add.mutate({ to: exampleSend.to })
  await account.trpc.suppression.add.mutate({ to: '34600777015' })
  await erase(server, exampleSend.to)

  expect(await account.trpc.suppression.remove.mutate({ to: exampleSend.to })).toMatchObject({ removed: true })

  expect(await listSuppressed()).toEqual([['34600777015', 'manual']])
  const sent = await account.post('/api/v1/message/send', { ...marketing, to: undefined, recipient: 'ES.1001' })
  expect(sent.statusCode).toBe(200)
})

test('removes an entry that is being stored at the same time', async () => {
  const { db } = server.deps
  const stop = { accountId: account.accountId, recipient: exampleSend.to, choice: 'out', reason: 'reply' } as const
  const removing = await db.transaction().execute(async (trx) => {
    await applyChoices(server.deps, trx, [{ ...stop, at: new Date() }])
    const answer = account.trpc.suppression.remove.mutate({ to: exampleSend.to })
    await expect.poll(() => lockWaits(db)).toHaveLength(1)
    return { answer }
  })

  expect(await removing.answer).toMatchObject({ removed: true })
  expect(await listSuppressed()).toEqual([])
})

test('checks many erased recipients at once', async () => {
  const numbers = Array.from({ length: 30 }, (_, index) => `346007780${String(index).padStart(2, '0')}`)
  await account.trpc.suppression.import.mutate({ recipients: numbers.slice(0, 20) })
  for (const number of numbers.slice(0, 10)) await erase(server, number)

  const responses = await Promise.all(numbers.map((to) => sendMarketing(to)))

  expect(responses.map(({ statusCode }) => statusCode)).toEqual(numbers.map((_, index) => (index < 20 ? 422 : 200)))
})

test('lets an erased recipient opt in again, and out again', async () => {
  const to = '34600777020'
  const first = await sendOne(account, { ...marketing, variables: undefined, to })
  await receiveMessages([userMessage(text('STOP'), first.waMessageId, { from: to })])
  await erase(server, to)
  expect((await sendMarketing(to)).statusCode).toBe(422)

  const again = await sendOne(account, { to })
  await receiveMessages([userMessage(text('START'), again.waMessageId, { from: to })])
  expect((await sendMarketing(to)).statusCode).toBe(200)
  expect(await listSuppressed()).toEqual([])

  // A recipient who opted in has no entry, so nothing remains.
  await erase(server, to)
  expect(await storedSuppressions()).not.toContain(to)
  expect((await sendMarketing(to)).statusCode).toBe(200)
})

test('restores the number of an entry when an erased recipient is added again', async () => {
  const to = '34600777030'
  await account.trpc.suppression.add.mutate({ to })
  await erase(server, to)

  expect(await account.trpc.suppression.add.mutate({ to })).toMatchObject({ to, added: false })

  expect(await listSuppressed()).toEqual([[to, 'manual']])
  await erase(server, to)
  expect(await listSuppressed()).toEqual([['erased', 'manual']])
})

test('erases in one account only, and uses a different hash in each account', async () => {
  const to = '34600777040'
  const other = await server.account()
  await account.trpc.suppression.add.mutate({ to })
  await other.trpc.suppression.add.mutate({ to })

  await erase(server, to, account.accountId)
  expect(await listSuppressed()).toEqual([['erased', 'manual']])
  expect(await other.trpc.suppression.list.query({})).toMatchObject({ items: [{ to }] })
  await erase(server, to)

  const rows = await server.deps.db
    .selectFrom('suppressions')
    .select('number_key')
    .where('account_id', 'in', [account.accountId, other.accountId])
    .execute()
  expect(new Set(rows.map(({ number_key }) => number_key)).size).toBe(2)
  expect(rows.every(({ number_key }) => number_key.startsWith('hmac:'))).toBe(true)
})

test('matches no erased recipient without the server key, instead of failing callbacks', async () => {
  const to = '34600777051'
  await account.trpc.suppression.add.mutate({ to })
  await erase(server, to)
  const other = createSecretBox([Buffer.alloc(32, 8)], server.deps.randomBytes)
  const stop = { accountId: account.accountId, recipient: to, choice: 'out', reason: 'reply', at: new Date() } as const

  expect(await findHashKey(server.deps.db, other)).toBeUndefined()
  const applied = await applyChoices({ newId: server.deps.newId, secrets: other }, server.deps.db, [stop])
  expect(applied).toMatchObject([{ to }])
  await expect(readHashKey({ ...server.deps, secrets: other })).rejects.toThrow('WAYBILL_SECRET_KEY')
})

test('finds erased recipients after a replacement of the server key', async () => {
  const to = '34600777050'
  await account.trpc.suppression.add.mutate({ to })
  await erase(server, to)
  const stored = (await listStoredSecrets(server.deps.db)).find(({ recordId }) => recordId === 'suppressions')
  const before = await findHashKey(server.deps.db, server.deps.secrets)
  const next = createSecretBox([Buffer.alloc(32, 7)], server.deps.randomBytes)
  await stored?.replace(
    server.deps.db,
    next.encrypt(server.deps.secrets.decrypt(stored.ciphertext, stored.purpose), stored.purpose),
  )

  expect(await findHashKey(server.deps.db, next)).toEqual(before)

  const replaced = (await listStoredSecrets(server.deps.db)).find(({ recordId }) => recordId === 'suppressions')
  await replaced?.replace(server.deps.db, stored?.ciphertext ?? '')
  expect((await sendMarketing(to)).statusCode).toBe(422)
})

test('asks for a repetition if PostgreSQL ends a change to resolve a deadlock', async () => {
  const node = await forTest(startTestServer())
  const tenant = await node.account()
  await sql`create function deadlock() returns trigger language plpgsql as
    $$ begin raise exception 'deadlock detected' using errcode = '40P01'; end $$`.execute(node.deps.db)
  await sql`create trigger deadlock before insert on suppressions execute function deadlock()`.execute(node.deps.db)

  const response = await tenant.post('/api/v1/suppression/add', { to: '34600111222' })

  expect(response.statusCode).toBe(503)
  expect(response.headers['retry-after']).toBe('1')
  expect(response.json().error.code).toBe('SERVICE_UNAVAILABLE')
})
