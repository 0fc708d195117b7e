import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { getMessageContent } from '../../../contracts/dashboard/message.ts'
import type { OutputOf } from '../../../contracts/procedure.ts'
import { updateAccount } from '../../../src/accounts/account.ts'
import { exportAccount } from '../../../src/cli/account-data/export.ts'
import { removeAccount } from '../../../src/cli/account-data/remove.ts'
import { dropContents, rekeyContents } from '../../../src/messages/contents/contents.ts'
import { deleteOldContents, findOldestContents } from '../../../src/messages/contents/store.ts'
import { createPartitions, dropOldPartitions } from '../../../src/platform/db/partitions.ts'
import { createSecretBox } from '../../../src/platform/secrets.ts'
import { erase } from '../../support/erase.ts'
import { findTablesWith } from '../../support/find-text.ts'
import { exampleSend } from '../../support/example-send.ts'
import { forFile, forTest } from '../../support/lifetime.ts'
import { callOperator, signedInOperator } from '../../support/operator.ts'
import { nodeForTest, startTestServer, type TestAccount } from '../../support/server.ts'
import { accountWithOwner, signedInOwner, type TestOwner } from '../../support/user.ts'

const server = await forFile(startTestServer())

type Content = OutputOf<typeof getMessageContent>

interface Customer {
  account: TestAccount
  accountId: string
  owner: TestOwner
}

/** A customer whose messages are stored, unless `keptDays` is null. */
async function setUp(keptDays: number | null = 30): Promise<Customer> {
  const { owner, ...account } = await accountWithOwner(server)
  const customer = { account, accountId: account.accountId, owner }
  if (keptDays !== null) await store(customer, keptDays)
  return customer
}

async function store({ owner, accountId }: Customer, keptDays: number | null): Promise<void> {
  const response = await owner.mutate('publicApi.setMessageContents', { accountId, keptDays })
  expect(response.data).toEqual({ keptDays })
}

const name = () => `Ada ${randomBytes(6).toString('hex')}`

async function send({ account }: Customer, change: object = {}): Promise<string> {
  const variables = { '1': 'Ada', '2': 'WB-1042' }
  const request = { to: '34600111222', template: 'order_shipped', language: 'en', variables, ...change }
  const sent = await account.post('/api/v1/message/send', request)
  expect(sent.json().error).toBeUndefined()
  return sent.json().data['messageId'] as string
}

async function read({ owner, accountId }: Customer, messageId: string): Promise<Content> {
  return (await owner.query<Content>('message.content', { accountId, messageId })).data
}

async function countStored({ accountId }: Pick<Customer, 'accountId'>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from message_contents where account_id = ${accountId}`.execute(server.deps.db)
  return rows[0]?.count ?? 0
}

test('stores nothing unless the account turns it on', async () => {
  const customer = await setUp(null)

  const messageId = await send(customer)

  expect(await read(customer, messageId)).toEqual({ state: 'off' })
  expect(await countStored(customer)).toBe(0)
})

test('stores the sent content, and shows it to members in the dashboard', async () => {
  const customer = await setUp()
  const variables = { '1': name(), '2': 'WB-1042' }

  const messageId = await send(customer, { variables })

  expect(await read(customer, messageId)).toEqual({
    state: 'stored',
    content: {
      values: { variables },
      shown: { body: `Hello ${variables['1']}, your order WB-1042 is on its way.`, footer: expect.any(String) },
    },
    templateChanged: false,
  })
  const viewer = await signedInOwner(server, customer.accountId, { role: 'viewer' })
  expect(await read({ ...customer, owner: viewer }, messageId)).toMatchObject({ state: 'stored' })
})

test('keeps no value in plain text, in the database or in the log', async () => {
  const customer = await setUp()
  const value = name()
  const messageId = await send(customer, { variables: { '1': value, '2': value } })
  await send(customer, { to: '15559000008', variables: { '1': value, '2': value } }).catch(() => {})
  await read(customer, messageId)

  expect(await findTablesWith(server.deps.db, value)).toEqual([])
  expect(server.log.join('')).not.toContain(value)
})

test('returns no value through the API', async () => {
  const customer = await setUp()
  const value = name()
  const messageId = await send(customer, { variables: { '1': value, '2': 'x' } })

  for (const path of [`/api/v1/message/${messageId}`, '/api/v1/message', '/api/v1/event']) {
    const response = await customer.account.get(path)
    expect(response.statusCode).toBe(200)
    expect(response.text).not.toContain(value)
  }
})

test.each(['invoice', 'weekend_offer', 'new_plants', 'order_delayed', 'pick_up_point'])(
  'stores the header, buttons and cards of %s as they were sent',
  async (template) => {
    const customer = await setUp()
    const found = await customer.account.get(`/api/v1/template/${template}/en`)
    const {
      to: _to,
      template: _name,
      language: _language,
      ...values
    } = found.json().data['example'] as object & { to: string; template: string; language: string }
    const request = { to: '34600111222', template, language: 'en', ...values }
    const preview = await customer.account.post('/api/v1/message/preview', request)
    const { header, headerMedia, body, footer, buttonDetails, cards } = preview.json().data

    const messageId = await send(customer, request)

    const shown = JSON.parse(JSON.stringify({ header, headerMedia, body, footer, buttonDetails, cards }))
    expect(await read(customer, messageId)).toMatchObject({
      state: 'stored',
      content: { values, shown },
      templateChanged: false,
    })
  },
)

test('stores components in the format of the Cloud API', async () => {
  const customer = await setUp()
  const components = [
    {
      type: 'body',
      parameters: [
        { type: 'text', text: 'Ada' },
        { type: 'text', text: 'WB-1042' },
      ],
    },
  ]

  const messageId = await send(customer, { variables: undefined, components })

  expect(await read(customer, messageId)).toMatchObject({
    state: 'stored',
    content: { values: { components }, shown: { body: 'Hello Ada, your order WB-1042 is on its way.' } },
  })
})

test('never stores one-time codes', async () => {
  const customer = await setUp()
  const code = { template: 'login_code', variables: undefined, code: '914207' }

  const plain = await send(customer, code)
  const generated = await customer.account.post('/api/v1/code/send', {
    to: '34600111222',
    template: 'login_code',
    language: 'en',
  })
  // Also in a template whose category WhatsApp has changed.
  await sql`update templates set category = 'UTILITY' where name = 'login_code' and account_id = ${customer.accountId}`.execute(
    server.deps.db,
  )
  const recategorized = await send(customer, code)

  expect(generated.statusCode).toBe(200)
  for (const messageId of [plain, recategorized, generated.json().data['messageId'] as string])
    expect(await read(customer, messageId)).toEqual({ state: 'not_stored' })
  expect(await countStored(customer)).toBe(0)
})

test('never stores messages of authentication templates, whatever their variables', async () => {
  const customer = await setUp()
  await sql`update templates set category = 'AUTHENTICATION' where name = 'order_shipped' and account_id = ${customer.accountId}`.execute(
    server.deps.db,
  )

  expect(await read(customer, await send(customer))).toEqual({ state: 'not_stored' })
})

test('shows the sent text after the template changed, and reports the change', async () => {
  const customer = await setUp()
  const messageId = await send(customer)
  const change = async (components: object[]) =>
    sql`update templates set components = ${JSON.stringify(components)}::jsonb
      where name = 'order_shipped' and language = 'en' and account_id = ${customer.accountId}`.execute(server.deps.db)

  await change([{ type: 'BODY', text: 'Dear {{1}}, order {{2}} has left.' }])

  const content = { shown: { body: 'Hello Ada, your order WB-1042 is on its way.' } }
  expect(await read(customer, messageId)).toMatchObject({ state: 'stored', content, templateChanged: true })
  await change([{ type: 'BODY', text: 'Dear {{1}}, {{2}} {{3}}' }])
  expect(await read(customer, messageId)).toMatchObject({ state: 'stored', content, templateChanged: true })
  await sql`delete from templates where name = 'order_shipped' and account_id = ${customer.accountId}`.execute(
    server.deps.db,
  )
  expect(await read(customer, messageId)).toMatchObject({ state: 'stored', content, templateChanged: false })
})

test('stores one content with the message of concurrent requests with one idempotency key', async () => {
  const customer = await setUp()

  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      customer.account.post('/api/v1/message/send', exampleSend, { 'idempotency-key': `order-${index % 2}` }),
    ),
  )

  const ids = new Set(
    responses.flatMap(({ statusCode, json }) => (statusCode === 200 ? [json().data['messageId']] : [])),
  )
  expect(ids.size).toBe(2)
  expect(await countStored(customer)).toBe(2)
})

test('stores contents only of accounts that turned it on when a batch has messages of several', async () => {
  const [storing, other] = [await setUp(), await setUp(null)]

  const ids = await Promise.all(
    Array.from({ length: 30 }, (_, index) => send(index % 2 === 0 ? storing : other, { externalId: `n-${index}` })),
  )

  expect(new Set(ids).size).toBe(30)
  expect([await countStored(storing), await countStored(other)]).toEqual([15, 0])
})

test('stores the content of a message that WhatsApp rejects', async () => {
  const customer = await setUp()
  await customer.account.post('/api/v1/message/send', { ...exampleSend, to: '15559000008' })
  const [row] = await findOldestOf(customer)

  expect(await read(customer, row?.messageId ?? '')).toMatchObject({ state: 'stored' })
})

const findOldestOf = async ({ accountId }: Customer) =>
  (await findOldestContents(server.deps.db)).filter((row) => row.accountId === accountId)

test('hides and deletes stored contents when the account turns it off, and audits both changes', async () => {
  const customer = await setUp()
  const messageId = await send(customer)

  await store(customer, null)

  expect(await read(customer, messageId)).toEqual({ state: 'off' })
  await expect.poll(() => countStored(customer)).toBe(0)
  await store(customer, 7)
  expect(await read(customer, messageId)).toEqual({ state: 'not_stored' })
  const { data } = await customer.owner.query<{ items: { what: string }[] }>('audit.list', {
    accountId: customer.accountId,
  })
  expect(data.items.map(({ what }) => what).slice(0, 3)).toEqual([
    'stored message contents for 7 days',
    'stopped storing message contents and deleted those stored',
    'stored message contents for 30 days',
  ])
})

test('hides contents stored before the account turned it off, even if they are not deleted yet', async () => {
  const customer = await setUp()
  const messageId = await send(customer)
  // As if the process had ended before it deleted them.
  await updateAccount(server.deps, customer.accountId, { messageContentsDays: null })
  await updateAccount(server.deps, customer.accountId, { messageContentsDays: 30 })
  const later = await send(customer)

  expect(await read(customer, messageId)).toEqual({ state: 'not_stored' })
  expect(await read(customer, later)).toMatchObject({ state: 'stored' })
  await deleteOldContents(server.deps.db, new Date())
  expect(await countStored(customer)).toBe(1)
})

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000)

test('applies a longer or shorter retention to stored contents', async () => {
  const customer = await setUp(2)
  await send(customer)
  const expire = (days: number) => deleteOldContents(server.deps.db, inDays(days), customer.accountId)

  expect(await expire(1.9)).toBe(0)
  await store(customer, 5)
  expect(await expire(4.9)).toBe(0)
  await store(customer, 3)
  expect(await expire(3.1)).toBe(1)
  expect(await countStored(customer)).toBe(0)
})

test('deletes in bounded steps, each account by its own retention', async () => {
  const [short, long] = [await setUp(1), await setUp(90)]
  for (let count = 0; count < 5; count++) await Promise.all([send(short), send(long)])

  await deleteOldContents(server.deps.db, inDays(10), undefined, 2)

  expect([await countStored(short), await countStored(long)]).toEqual([0, 5])
})

test('drops partitions of contents earlier than those of messages', async () => {
  const start = new Date('2031-03-03T00:00:00Z')
  await createPartitions(server.deps.db, start)

  const dropped = await dropOldPartitions(server.deps.db, new Date('2031-03-25T00:00:00Z'), 90, { message_contents: 7 })

  const of2031 = dropped.filter((partition) => partition.includes('_2031'))
  expect(of2031.length).toBeGreaterThan(0)
  expect(of2031.filter((partition) => !partition.startsWith('message_contents_'))).toEqual([])
})

test.each([0, 366, 1.5, 'off'])('rejects a retention of %o', async (keptDays) => {
  const { owner, accountId } = await setUp(null)

  const response = await owner.mutate('publicApi.setMessageContents', { accountId, keptDays })

  expect(response).toMatchObject({ statusCode: 400, error: { data: { code: 'VALIDATION_ERROR' } } })
})

test('shows no contents to operators who view an account', async () => {
  const customer = await setUp()
  const messageId = await send(customer)
  const operator = await signedInOperator(server)
  const { accountId } = customer
  await callOperator(server, operator, { name: 'account.view', kind: 'mutation' }, { accountId })

  expect(await operator.query('message.get', { accountId, messageId })).toMatchObject({ statusCode: 200 })
  const response = await operator.query('message.content', { accountId, messageId })

  expect(response).toMatchObject({ statusCode: 403, error: { data: { code: 'ROLE_REQUIRED' } } })
})

test('does not decrypt a content that was copied to another message', async () => {
  const customer = await setUp()
  const [one, two] = [await send(customer), await send(customer)]
  await sql`update message_contents set content_encrypted = (
    select content_encrypted from message_contents where message_id = ${one}
  ) where message_id = ${two}`.execute(server.deps.db)

  expect(await read(customer, two)).toEqual({ state: 'unreadable' })
})

test('deletes contents sent to an erased recipient, and other contents that name them', async () => {
  const customer = await setUp()
  const number = '34600777001'
  const toThem = await send(customer, { to: number })
  const aboutThem = await send(customer, { variables: { '1': 'Ada', '2': 'driver +34 600 777 001' } })
  const other = await send(customer, { variables: { '1': 'Ada', '2': '346007770019' } })

  const erased = await erase(server, number)

  expect(erased).toMatchObject({
    accountIds: [customer.accountId],
    messages: 1,
    rows: { message_contents: 2 },
    complete: true,
  })
  expect(await read(customer, toThem)).toEqual({ state: 'not_stored' })
  expect(await read(customer, aboutThem)).toEqual({ state: 'not_stored' })
  expect(await read(customer, other)).toMatchObject({ state: 'stored' })
})

test('erases only the given account', async () => {
  const [one, two] = [await setUp(), await setUp()]
  const number = '34600777002'
  const change = { variables: { '1': number, '2': 'x' } }
  const [first, second] = [await send(one, change), await send(two, change)]

  await erase(server, number, one.accountId)

  expect(await read(one, first)).toEqual({ state: 'not_stored' })
  expect(await read(two, second)).toMatchObject({ state: 'stored' })
})

test('exports contents, and marks those that cannot be decrypted', async () => {
  const customer = await setUp()
  const messageId = await send(customer)
  const stored = async (deps = server.deps) => {
    const lines: { type: string; data: object }[] = []
    for await (const page of exportAccount(deps, customer.accountId))
      lines.push(...page.map((line) => JSON.parse(line)))
    return lines.filter(({ type }) => type === 'messageContent').map(({ data }) => data)
  }

  expect(await stored()).toEqual([
    {
      messageId,
      values: { variables: { '1': 'Ada', '2': 'WB-1042' } },
      shown: expect.objectContaining({ body: 'Hello Ada, your order WB-1042 is on its way.' }),
    },
  ])
  const { ciphertext = '' } = (await findOldestOf(customer))[0] ?? {}
  await replaceCiphertext(messageId, ciphertext.replace(/^v1\.[0-9a-f]+/, 'v1.00000000'))
  expect(await stored()).toEqual([{ messageId, unreadable: true }])
  await updateAccount(server.deps, customer.accountId, { messageContentsDays: null })
  expect(await stored()).toEqual([])
})

async function replaceCiphertext(messageId: string, ciphertext: string): Promise<void> {
  await sql`update message_contents set content_encrypted = ${ciphertext} where message_id = ${messageId}`.execute(
    server.deps.db,
  )
}

test('keeps stored contents if the account turns storing on again before they are deleted', async () => {
  const customer = await setUp()
  await send(customer)

  await dropContents(server.deps, customer.accountId)

  expect(await countStored(customer)).toBe(1)
})

test('removes the contents of a removed account', async () => {
  const customer = await setUp()
  await send(customer)

  await removeAccount(server.deps.db, customer.accountId)

  expect(await countStored(customer)).toBe(0)
})

const ofKeys = (...keys: [Buffer, ...Buffer[]]) => ({ secrets: createSecretBox(keys, randomBytes) })

test('re-encrypts contents after a key rotation, and reports a lost key', async () => {
  const [oldKey, newKey] = [randomBytes(32), randomBytes(32)]
  const before = await forTest(startTestServer({ deps: ofKeys(oldKey) }))
  const account = await before.account()
  const owner = await signedInOwner(before, account.accountId)
  const customer = { account, accountId: account.accountId, owner }
  await store(customer, 30)
  const messageId = await send(customer)
  const of = async (keys: [Buffer, ...Buffer[]]) => {
    const node = await nodeForTest(before, { deps: ofKeys(...keys) })
    const response = await node.request(
      'GET',
      `/settings/trpc/settings.message.content?input=${encodeURIComponent(JSON.stringify({ accountId: account.accountId, messageId }))}`,
      { headers: { origin: node.url, cookie: owner.cookie() } },
    )
    return JSON.parse(response.text).result?.data as Content
  }

  const during = { ...before.deps, ...ofKeys(newKey, oldKey) }
  expect(await rekeyContents({ ...before.deps, ...ofKeys(newKey) })).toEqual({ stored: 1, rekeyed: 0, unreadable: 1 })
  expect(await of([newKey, oldKey])).toMatchObject({ state: 'stored' })
  expect(await rekeyContents(during)).toEqual({ stored: 1, rekeyed: 1, unreadable: 0 })
  expect(await rekeyContents(during)).toEqual({ stored: 1, rekeyed: 0, unreadable: 0 })
  expect(await read(customer, messageId)).toEqual({ state: 'unreadable' })
  expect(await of([oldKey, newKey])).toMatchObject({ state: 'stored' })
})
