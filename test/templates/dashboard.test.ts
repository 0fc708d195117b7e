import { expect, test } from 'vitest'
import { type listTemplates, testMediaPath } from '../../contracts/dashboard/template.ts'
import { unsupportedTemplate } from '../../contracts/facts/template-refusals.ts'
import type { OutputOf } from '../../contracts/procedure.ts'
import { syncTemplates } from '../../src/templates/sync.ts'
import { exampleSend } from '../support/example-send.ts'
import { forFile } from '../support/lifetime.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { accountWithOwner, signedInOwner, type TestOwner, visitor } from '../support/user.ts'
import { startTestServer } from '../support/server.ts'
import { pdf } from '../support/media-files.ts'

const server = await forFile(startTestServer())
const { owner, ...account } = await accountWithOwner(server)

type Page = OutputOf<typeof listTemplates>

const list = async (input: object = {}) =>
  (await owner.query<Page>('template.list', { accountId: account.accountId, ...input })).data

test('lists templates with their status and the time of the last sync', async () => {
  const page = await list({ limit: 100 })

  expect(page.syncedAt).toBeDefined()
  expect(page.items).toContainEqual(
    expect.objectContaining({ name: 'order_shipped', language: 'en', status: 'APPROVED', sendable: true }),
  )
})

test('pages through templates', async () => {
  const all = await list({ limit: 100 })

  const first = await list({ limit: 2 })
  const second = await list({ limit: 100, cursor: first.nextCursor })

  expect([...first.items, ...second.items]).toEqual(all.items)
})

test('shows a new template after a sync, with the reason of a rejection', async () => {
  server.simulator
    .templatesOf(account.wabaId)
    .add({ name: 'too_pushy', language: 'en', status: 'REJECTED', rejected_reason: 'PROMOTIONAL' })

  const { data } = await owner.mutate('template.sync', { accountId: account.accountId })

  expect(data).toMatchObject({ synced: expect.any(Number), approved: expect.any(Number) })
  expect((await list({ limit: 100 })).items).toContainEqual(
    expect.objectContaining({ name: 'too_pushy', status: 'REJECTED', rejectedReason: 'PROMOTIONAL', sendable: false }),
  )
})

test('syncs that overlap wait for a lock with one connection', async () => {
  const { db, whatsapp } = server.deps
  const ofAccount = db.selectFrom('whatsapp_accounts').select('id').where('account_id', '=', account.accountId)
  const holder = await db.startTransaction().execute()
  await holder.executeQuery(ofAccount.forUpdate())
  let listings = 0
  const listTemplates: typeof whatsapp.listTemplates = async (from) => {
    const listing = await whatsapp.listTemplates(from)
    listings += 1
    return listing
  }
  const deps = { ...server.deps, whatsapp: { ...whatsapp, listTemplates } }

  const syncs = Array.from({ length: 3 }, () => syncTemplates(deps, account.accountId))

  await expect.poll(() => listings).toBe(3)
  await expect.poll(() => lockWaits(db)).not.toEqual([])
  const waits: number[] = []
  while (waits.length < 20) waits.push((await lockWaits(db)).length)
  await holder.rollback().execute()
  expect(await Promise.all(syncs)).toHaveLength(3)
  expect(Math.max(...waits)).toBe(1)
})

test('says with a fact why an approved template cannot be sent, and to API callers in English alone', async () => {
  const components = [{ type: 'HEADER', format: 'HOLOGRAM' }]
  await account.template({ name: 'too_new', components })
  const reason = 'it has a header of format HOLOGRAM, which Waybill does not know'

  expect((await list({ limit: 100 })).items).toContainEqual(
    expect.objectContaining({
      name: 'too_new',
      reason,
      facts: { reason: unsupportedTemplate.headerFormat({ format: 'HOLOGRAM' }) },
    }),
  )
  const { data } = (await account.get('/api/v1/template/too_new/en')).json()
  expect(data).toMatchObject({ status: 'APPROVED', sendable: false, reason })
  expect(data).not.toHaveProperty('facts')
})

test('returns the reason of a rejection to API callers, and none for other templates', async () => {
  server.simulator
    .templatesOf(account.wabaId)
    .add({ name: 'too_vague', language: 'en', status: 'REJECTED', rejected_reason: 'INVALID_FORMAT' })
  await owner.mutate('template.sync', { accountId: account.accountId })

  const rejected = await account.get('/api/v1/template/too_vague/en')
  const approved = await account.get('/api/v1/template/order_shipped/en')

  expect(rejected.json()).toMatchObject({ data: { status: 'REJECTED', rejectedReason: 'INVALID_FORMAT' } })
  expect(approved.json()).not.toHaveProperty('data.rejectedReason')
})

test('lists templates that WhatsApp stopped, then those of low quality, and counts the rest', async () => {
  const { owner: asOwner, ...customer } = await accountWithOwner(server)
  const templates = server.simulator.templatesOf(customer.wabaId)
  const problems = async () =>
    (await asOwner.query<{ items: object[]; total: number }>('template.problems', { accountId: customer.accountId }))
      .data
  await asOwner.mutate('template.sync', { accountId: customer.accountId })

  const red = { score: 'RED', date: 1 }
  const add = (name: string, change: object) => templates.add({ name, language: 'en', ...change })
  add('a_low', { status: 'APPROVED', quality_score: red })
  add('b_paused', { status: 'PAUSED', quality_score: red })
  add('c_rejected', { status: 'REJECTED', rejected_reason: 'PROMOTIONAL' })
  await asOwner.mutate('template.sync', { accountId: customer.accountId })
  const low = { name: 'a_low', language: 'en', status: 'APPROVED', qualityScore: 'RED' }
  const paused = { name: 'b_paused', language: 'en', status: 'PAUSED', qualityScore: 'RED' }
  // Every account of the simulator has it.
  const sale = { ...paused, name: 'spring_sale' }
  const { whatsAppAccountId } = customer
  expect(await problems()).toEqual({
    items: [
      { ...paused, whatsAppAccountId },
      { ...sale, whatsAppAccountId },
      { ...low, whatsAppAccountId },
    ],
    total: 3,
  })

  for (let n = 0; n < 6; n++) add(`d_disabled_${n}`, { status: 'DISABLED' })
  await asOwner.mutate('template.sync', { accountId: customer.accountId })
  expect((await problems()).total).toBe(9)
  expect((await problems()).items).toHaveLength(5)
})

test('limits syncs, which call WhatsApp, to 30 per minute', async () => {
  const customer = await server.account()
  const { mutate } = await signedInOwner(server, customer.accountId)
  const sync = () => mutate('template.sync', { accountId: customer.accountId })
  for (let count = 0; count < 30; count++) expect((await sync()).error).toBeUndefined()

  expect((await sync()).error).toMatchObject({ data: { code: 'RATE_LIMIT_EXCEEDED' } })
})

test('records the sync of a WhatsApp Business Account without templates', async () => {
  const { owner: person, ...customer } = await accountWithOwner(server)
  const number = { phoneNumberId: '880000000000001', wabaId: '990000000000001' }
  const whatsAppAccountId = await customer.addWhatsAppAccount(number)
  const empty = { accountId: customer.accountId, whatsAppAccountId }
  expect((await person.query('template.list', empty)).data).toEqual({ items: [] })
  const before = Date.now()

  await person.mutate('template.sync', { accountId: customer.accountId })

  const { data } = await person.query<Page>('template.list', empty)
  expect(data).toEqual({ items: [], syncedAt: expect.any(String) })
  expect(Date.parse(data.syncedAt ?? '')).toBeGreaterThanOrEqual(before)
})

test('explains what a sync needs to a customer without a WhatsApp account', async () => {
  const { owner: person, ...bare } = await accountWithOwner(server)
  await person.mutate('whatsAppAccount.remove', {
    accountId: bare.accountId,
    whatsAppAccountId: bare.whatsAppAccountId,
  })

  expect((await person.query('template.list', { accountId: bare.accountId })).data).toEqual({ items: [] })
  const sync = await person.mutate('template.sync', { accountId: bare.accountId })
  expect(sync).toMatchObject({ statusCode: 409, error: { message: expect.stringContaining('no active WhatsApp') } })
  expect(sync.error.message).not.toContain('waybill ')
})

const sendTest = (change: object = {}) =>
  owner.mutate<{ messageId: string }>('template.sendTest', {
    accountId: account.accountId,
    ...exampleSend,
    externalId: undefined,
    ...change,
  })

test('sends a test message like any other message', async () => {
  const sent = await sendTest()

  expect(sent).toMatchObject({ statusCode: 200, data: { status: 'sent' } })
  expect((await account.get(`/api/v1/message/${sent.data.messageId}`)).json().data).toMatchObject({ to: '34600111222' })
})

test('explains a test that WhatsApp rejects and names the failed message', async () => {
  // The simulator rejects this recipient.
  const { statusCode, data } = await sendTest({ to: '15550131026' })

  expect({ statusCode, data }).toMatchObject({
    statusCode: 200,
    data: { status: 'failed', failure: { meaning: 'The message cannot reach this recipient.' } },
  })
  const message = (await account.get(`/api/v1/message/${data.messageId}`)).json().data
  expect(message).toMatchObject({ status: 'failed', to: '15550131026', error: { code: '131026' } })
})

test('names the message of a test with an unknown outcome', async () => {
  // The simulator closes the connection.
  const { statusCode, data } = await sendTest({ to: '15559000004' })

  expect({ statusCode, data }).toEqual({ statusCode: 200, data: { messageId: data.messageId, status: 'pending' } })
  expect((await account.get(`/api/v1/message/${data.messageId}`)).json().data).toMatchObject({ status: 'pending' })
})

test('counts tests towards the API rate limit and records none beyond it', async () => {
  const customer = await server.account({ rateLimit: 3 })
  const person = await signedInOwner(server, customer.accountId)
  const message = { to: '34600111222', template: 'hello_world', language: 'en_US' }
  const sendTest = () => person.mutate('template.sendTest', { accountId: customer.accountId, ...message })

  const tests = await Promise.all(Array.from({ length: 2 }, sendTest))
  const viaApi = await Promise.all(Array.from({ length: 2 }, () => customer.post('/api/v1/message/send', message)))
  const refused = await sendTest()

  expect(tests.map(({ statusCode }) => statusCode)).toEqual([200, 200])
  expect(viaApi.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 429])
  expect(refused).toMatchObject({
    statusCode: 429,
    error: {
      message: expect.stringMatching(/^This account may send 3 requests per minute/),
      data: { code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds: expect.any(Number) },
    },
  })
  const { items } = (await customer.get('/api/v1/message')).json().data
  expect(items).toHaveLength(3)
  const access = await person.query('publicApi.get', { accountId: customer.accountId })
  expect(access.data).toMatchObject({ rateLimit: { limit: 3, used: 3 } })
})

test.each([
  { input: { to: '+34 600 111 222' }, fields: { to: expect.stringContaining('digits only') } },
  { input: { variables: { '1': 'Ada' } }, fields: { 'variables.2': 'is missing; it fills {{2}}.' } },
])('reports an invalid field of a test: %o', async ({ input, fields }) => {
  const { statusCode, error } = await sendTest(input)

  expect(statusCode).toBe(400)
  expect(error.data.fields).toEqual(fields)
})

function upload(by: TestOwner, content: Buffer) {
  const query = new URLSearchParams({ accountId: account.accountId })
  return by.postForm(`${testMediaPath}?${query}`, [{ name: 'file', content, filename: 'invoice.pdf' }])
}

test('uploads the file of a test message, which the audit log records', async () => {
  const response = await upload(owner, pdf())

  expect(response.json().data).toMatchObject({
    mediaId: expect.stringMatching(/^med_/),
    kind: 'document',
    filename: 'invoice.pdf',
  })
  const { data } = await owner.query<{ items: object[] }>('audit.list', { accountId: account.accountId })
  expect(data.items).toContainEqual(expect.objectContaining({ what: 'uploaded a file', outcome: 'done' }))
})

test('rejects a file that no message can show, with a reason for users', async () => {
  const response = await upload(owner, Buffer.from('MZ\x90\x00\x03 a program', 'latin1'))

  expect(response.statusCode).toBe(415)
  expect(response.json().error).toMatchObject({ code: 'UNSUPPORTED_MEDIA_TYPE' })
})

test('uploads for owners of the account only', async () => {
  const viewer = await signedInOwner(server, account.accountId, { role: 'viewer' })
  const outsider = await signedInOwner(server, (await server.account()).accountId)

  expect((await upload(viewer, pdf())).statusCode).toBe(403)
  expect((await upload(outsider, pdf())).statusCode).toBe(404)
  expect((await upload(visitor(server), pdf())).statusCode).toBe(401)
})
