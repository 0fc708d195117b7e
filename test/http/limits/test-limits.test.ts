import { beforeEach, expect, test } from 'vitest'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer } from '../../support/server.ts'
import { accountWithOwner, signedInOwner, type TestOwner } from '../../support/user.ts'
import { startWebhookReceiver } from '../../support/webhook-receiver.ts'

const server = await forFile(startTestServer())
const receiver = await forFile(startWebhookReceiver())
let accountId: string
let owner: TestOwner
beforeEach(async () => {
  ;({ accountId, owner } = await accountWithOwner(server))
})

function listAudit(): Promise<{ what: string; outcome: string }[]> {
  return server.deps.db
    .selectFrom('audit_entries')
    .select(['what', 'outcome'])
    .where('account_id', '=', accountId)
    .orderBy('sequence')
    .execute()
}

/** Calls a procedure and returns the headers too. */
function call(user: TestOwner, name: string, input: object) {
  return server.request('POST', `/settings/trpc/settings.${name}`, {
    headers: { origin: server.url, cookie: user.cookie(), 'content-type': 'application/json' },
    body: JSON.stringify({ accountId, ...input }),
  })
}

/** Calls a procedure 25 times concurrently and returns how often it succeeded. */
async function flood(user: TestOwner, name: string, input: (index: number) => object = () => ({})): Promise<number> {
  const responses = await Promise.all(Array.from({ length: 25 }, (_, index) => call(user, name, input(index))))
  const rejected = responses.filter(({ statusCode }) => statusCode !== 200)
  expect(new Set(rejected.map(({ statusCode }) => statusCode))).toEqual(new Set([429]))
  return responses.length - rejected.length
}

test('limits the tests of an account to its chat and endpoints together, and records only those it sends', async () => {
  const url = `${receiver.url}/${accountId}`
  const { data } = await owner.mutate<{ endpointId: string }>('webhook.add', { accountId, url })
  await owner.mutate('alert.setChat', { accountId, url, format: 'slack' })
  const before = await listAudit()
  for (let count = 1; count <= 4; count++) expect((await call(owner, 'alert.testChat', {})).statusCode).toBe(200)

  expect(await flood(owner, 'webhook.test', () => ({ endpointId: data.endpointId }))).toBe(6)

  const rejected = await call(owner, 'alert.testChat', {})
  expect(rejected.statusCode).toBe(429)
  expect(rejected.headers['retry-after']).toMatch(/^[1-9]\d?$/)
  expect(JSON.parse(rejected.text).error).toMatchObject({
    message: expect.stringMatching(
      /^This account may send 10 tests to its chat and endpoints per minute\. Try again in \d+ seconds\.$/,
    ),
    data: { code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds: Number(rejected.headers['retry-after']) },
  })
  expect(receiver.at(`/${accountId}`)).toHaveLength(10)
  // Each has an entry before it and one with its outcome.
  expect((await listAudit()).length - before.length).toBe(20)
  const { owner: otherOwner, ...other } = await accountWithOwner(server)
  const added = await otherOwner.mutate<{ endpointId: string }>('webhook.add', { accountId: other.accountId, url })
  const sent = await otherOwner.mutate('webhook.test', { accountId: other.accountId, ...added.data })
  expect(sent.statusCode).not.toBe(429)
})

test('limits the test emails of each member, and records only those that are allowed', async () => {
  const viewer = await signedInOwner(server, accountId, { role: 'viewer' })
  const before = await listAudit()

  expect(await flood(viewer, 'alert.testEmail')).toBe(10)

  expect((await listAudit()).length - before.length).toBe(20)
  expect((await viewer.mutate('alert.setEmails', { accountId, receives: false })).error.message).toMatch(
    /^You may test or change your alert emails 10 times per minute\. Try again in \d+ seconds\.$/,
  )
  expect((await owner.mutate('alert.testEmail', { accountId })).statusCode).toBe(200)
})

test('limits the exports of each member, and records only those that are allowed', async () => {
  const viewer = await signedInOwner(server, accountId, { role: 'viewer' })
  const before = await listAudit()
  for (let count = 1; count <= 10; count++)
    expect((await viewer.mutate('audit.recordExport', { accountId, of: 'messages' })).statusCode).toBe(200)

  expect(await flood(viewer, 'audit.recordExport', () => ({ of: 'messages' }))).toBe(20)

  expect((await listAudit()).length - before.length).toBe(60)
  expect((await owner.mutate('audit.recordExport', { accountId, of: 'messages' })).statusCode).toBe(200)
})

test('limits changes of alert emails', async () => {
  const before = await listAudit()

  expect(await flood(owner, 'alert.setEmails', (index) => ({ receives: index % 2 === 0 }))).toBe(10)

  expect((await listAudit()).length - before.length).toBeLessThanOrEqual(20)
})

const setEmails = (receives: boolean) => owner.mutate('alert.setEmails', { accountId, receives })

test('records a change of alert emails only if something changes', async () => {
  const before = await listAudit()

  expect((await setEmails(true)).data).toMatchObject({ receives: true })
  expect(await listAudit()).toEqual(before)

  for (const receives of [false, false, true]) expect((await setEmails(receives)).data).toMatchObject({ receives })
  const added = (await listAudit()).slice(before.length)
  expect(added).toEqual([
    { what: 'stopped alerts by email to themselves', outcome: 'started' },
    { what: 'stopped alerts by email to themselves', outcome: 'done' },
    { what: 'resumed alerts by email to themselves', outcome: 'started' },
    { what: 'resumed alerts by email to themselves', outcome: 'done' },
  ])
})
