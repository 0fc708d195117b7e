import { describe, expect, test } from 'vitest'
import { dashboardContracts } from '../../../contracts/dashboard/index.ts'
import { listProcedures, type OperatorProcedure } from '../../../contracts/procedure.ts'
import { addEndpoint } from '../../../src/webhooks/endpoints/change.ts'
import { grantOperator, revokeOperator } from '../../../src/users/operators.ts'
import { createPopulatedAccount, inputsOf, listSettingsContracts } from '../../support/dashboard.ts'
import { exampleSend } from '../../support/example-send.ts'
import { forFile } from '../../support/lifetime.ts'
import { callOperator, setUpAuthenticator, signedInOperator } from '../../support/operator.ts'
import { startTestServer, type TestAccount, type TestServer, through } from '../../support/server.ts'
import { accountWithOwner, signedInOwner, type TestOwner, totp, visitor } from '../../support/user.ts'

const server = await forFile(startTestServer())
const otherNode = await forFile(startTestServer({ beside: server }))
const theirs = await createPopulatedAccount(server)
const theirOwner = await signedInOwner(server, theirs.accountId)
let operator = await signedInOperator(server)
/** An operator who lacks the second factor. */
const withoutAuthenticator = await signedInOwner(server, theirs.accountId, { role: 'viewer' })
await grantOperator(server.deps, withoutAuthenticator)

const procedures = listProcedures<OperatorProcedure>(dashboardContracts.operator).map(({ name, contract }) => ({
  name,
  kind: contract.kind,
  contract,
}))
const find = (name: string) => {
  const procedure = procedures.find((one) => one.name === name)
  if (!procedure) throw new Error(`no procedure ${name}`)
  return procedure
}
const call = (name: string, input: object = {}, user: Pick<TestOwner, 'cookie'> = operator, node = server) =>
  callOperator(node, user, find(name), input)

const inputs: Record<string, () => object> = {
  'account.list': () => ({}),
  'account.create': () => ({ name: 'Created by nobody' }),
  'account.suspend': () => ({ accountId: theirs.accountId }),
  'account.resume': () => ({ accountId: theirs.accountId }),
  'account.view': () => ({ accountId: theirs.accountId }),
  'account.closeView': () => ({ accountId: theirs.accountId }),
  'server.get': () => ({}),
  'server.slowEndpoints': () => ({}),
}
const inputOf = (name: string) => inputs[name]?.() ?? {}

function listAuditIds(): Promise<{ id: string }[]> {
  const entries = server.deps.db.selectFrom('audit_entries').select('id')
  return entries.where('account_id', '=', theirs.accountId).orderBy('id').execute()
}

async function snapshot() {
  const { db } = server.deps
  return JSON.stringify([
    await db.selectFrom('accounts').selectAll().orderBy('id').execute(),
    await db.selectFrom('operator_views').selectAll().orderBy('session_id').orderBy('account_id').execute(),
    await listAuditIds(),
  ])
}

async function auditOf(accountId: string): Promise<string[]> {
  const rows = await server.deps.db
    .selectFrom('audit_entries')
    .select(['who', 'what', 'outcome'])
    .where('account_id', '=', accountId)
    .orderBy('sequence')
    .execute()
  return rows.map(({ who, what, outcome }) => `${who} ${what}: ${outcome}`)
}

/** Signs in to a new session with a password and a code that was not used yet. */
async function signInWithCode(user: TestOwner & { secret: string }, steps: number): Promise<TestOwner> {
  await server.deps.db.deleteFrom('owner_sign_in_rates').execute()
  await server.deps.db.deleteFrom('owner_tries').execute()
  const browser = user.inOtherBrowser()
  await browser.signIn()
  expect((await browser.auth('/two-factor/verify-totp', { code: totp(user.secret, steps) })).statusCode).toBe(200)
  return browser
}

describe.each(procedures)('$name', (procedure) => {
  const { name } = procedure

  test('rejects a caller who is not signed in', async () => {
    const response = await callOperator(server, visitor(server), procedure, inputOf(name))

    expect(response).toMatchObject({ statusCode: 401, error: { data: { code: 'SIGN_IN_REQUIRED' } } })
  })

  test('does not exist for an owner who is not an operator, even with an authenticator app', async () => {
    const before = await snapshot()
    const response = await callOperator(server, theirOwner, procedure, inputOf(name))
    const unknown = await callOperator(server, theirOwner, { name: 'account.none', kind: procedure.kind })

    expect(response).toMatchObject({ statusCode: 404, error: { data: { code: 'NOT_FOUND' } } })
    expect(response.error.message).toBe(unknown.error.message)
    expect(await snapshot()).toBe(before)
  })

  test('rejects an operator without an authenticator app', async () => {
    const before = await snapshot()

    const response = await callOperator(server, withoutAuthenticator, procedure, inputOf(name))

    expect(response).toMatchObject({ statusCode: 403, error: { data: { code: 'ROLE_REQUIRED' } } })
    expect(response.error.message).toContain('authenticator app')
    expect(await snapshot()).toBe(before)
  })
})

test.each(procedures.filter(({ kind }) => kind === 'mutation'))(
  '$name rejects a page of another site',
  async (procedure) => {
    const before = await snapshot()

    const response = await callOperator(server, operator, procedure, inputOf(procedure.name), {
      origin: 'https://evil.example',
    })

    expect(response).toMatchObject({ statusCode: 403, error: { data: { code: 'FOREIGN_ORIGIN' } } })
    expect(await snapshot()).toBe(before)
  },
)

test('audits every change of an account by an operator', () => {
  const unaudited = procedures.filter(
    ({ kind, contract }) => kind === 'mutation' && typeof contract.audit !== 'function',
  )

  // Its entry is written once the account exists.
  expect(unaudited.map(({ name }) => name)).toEqual(['account.create'])
})

test('has no procedure that grants or revokes operators', () => {
  expect(procedures.filter(({ name }) => /grant|revoke|operator/i.test(name))).toEqual([])
})

test('records a grant once, although the command was repeated', async () => {
  const { accountId, owner: user } = await accountWithOwner(server)
  await grantOperator(server.deps, user)
  await grantOperator(server.deps, user)

  const { data } = await user.query<{ items: object[] }>('audit.list', { accountId })
  expect(JSON.stringify(data.items).match(/an operator of this server/g)).toHaveLength(1)
})

test('rejects a session that presented no code, even if the user has an authenticator app', async () => {
  const { owner: user } = await accountWithOwner(server)
  const { secret } = await setUpAuthenticator(server, user)
  await grantOperator(server.deps, user)
  // Like a session from a sign-in with an organisation, which requires no code.
  await server.deps.db.updateTable('owner_sessions').set({ secondFactor: false }).execute()

  const without = await call('server.get', {}, user)
  const session = await user.query('session.get')
  const withCode = await signInWithCode({ ...user, secret }, 1)

  expect(without).toMatchObject({ statusCode: 403, error: { data: { code: 'ROLE_REQUIRED' } } })
  expect(session.data).toMatchObject({ operator: 'needs_code' })
  expect(await call('server.get', {}, withCode)).toMatchObject({ statusCode: 200 })
  operator = await signedInOperator(server)
})

test('accepts a backup code as second factor, but not the session of a changed password', async () => {
  const { owner: user } = await accountWithOwner(server)
  const { backupCodes } = await setUpAuthenticator(server, user)
  await grantOperator(server.deps, user)
  const other = user.inOtherBrowser()
  await other.signIn()
  await other.auth('/two-factor/verify-backup-code', { code: backupCodes[0] })

  expect((await call('server.get', {}, other)).statusCode).toBe(200)
  const changed = await other.auth('/change-password', {
    currentPassword: user.password,
    newPassword: 'another long pass phrase',
  })
  expect(changed.statusCode).toBe(200)
  expect((await other.query('session.get')).data).toMatchObject({ operator: 'needs_code' })
  expect((await call('server.get', {}, other)).statusCode).toBe(403)
})

test('ends the console and every view immediately on every node when the grant is revoked', async () => {
  const user = await signedInOperator(server)
  await call('account.view', { accountId: theirs.accountId }, user)
  const readMessages = () => read('message.list', {}, user)
  expect((await readMessages()).statusCode).toBe(200)

  await revokeOperator(server.deps, user)

  expect((await readMessages()).statusCode).toBe(404)
  for (const node of [server, otherNode]) expect((await call('account.list', {}, user, node)).statusCode).toBe(404)
  expect((await user.query('session.get')).data).not.toHaveProperty('operator')
  // A new grant does not reopen views of the earlier one.
  await grantOperator(server.deps, user)
  expect((await readMessages()).statusCode).toBe(404)
})

test('ends the console and every view when the authenticator app is turned off', async () => {
  const user = await signedInOperator(server)
  await call('account.view', { accountId: theirs.accountId }, user)
  const disabled = await user.auth('/two-factor/disable', { password: user.password })
  expect(disabled.statusCode).toBe(200)

  expect((await user.query('message.list', { accountId: theirs.accountId })).statusCode).toBe(404)
  expect((await call('account.list', {}, user)).statusCode).toBe(403)
  expect((await user.query('session.get')).data).toMatchObject({ operator: 'needs_authenticator' })
})

/** Calls a query about another customer's account. */
const read = (name: string, input: object = {}, user: TestOwner = operator) =>
  user.query(name, { accountId: theirs.accountId, ...input })

describe('viewing an account', () => {
  test('must be opened first, which its owners see in their audit log', async () => {
    expect(await read('message.list')).toMatchObject({ statusCode: 404, error: { data: { code: 'NOT_FOUND' } } })

    const opened = await call('account.view', { accountId: theirs.accountId })

    expect(opened.statusCode).toBe(200)
    expect((await read('message.list')).statusCode).toBe(200)
    const { data } = await theirOwner.query<{ items: object[] }>('audit.list', { accountId: theirs.accountId })
    expect(data.items[0]).toMatchObject({
      who: operator.email,
      what: 'opened the account to view it as an operator of this server',
      outcome: 'done',
    })
    const session = await operator.query<{ accounts: object[] }>('session.get')
    expect(session.data.accounts).toContainEqual({
      accountId: theirs.accountId,
      name: expect.any(String),
      role: 'viewer',
      viewedUntil: opened.data['expiresAt'],
    })
  })

  test.each(
    listSettingsContracts().filter(
      ({ contract: { allowed, kind } }) => kind === 'mutation' && (allowed === 'owner' || allowed === 'viewer'),
    ),
  )('rejects $name', async ({ name }) => {
    await call('account.view', { accountId: theirs.accountId })
    const { db } = server.deps
    const state = async () =>
      JSON.stringify([
        await db.selectFrom('accounts').selectAll().where('id', '=', theirs.accountId).execute(),
        await listAuditIds(),
        await db.selectFrom('messages').selectAll().where('account_id', '=', theirs.accountId).execute(),
      ])
    const before = await state()

    const response = await operator.mutate(name, { accountId: theirs.accountId, ...inputsOf(theirs)[name] })

    expect(response).toMatchObject({ statusCode: 403, error: { data: { code: 'ROLE_REQUIRED' } } })
    expect(await state()).toBe(before)
  })

  test('rejects queries that viewers may not call, and shows no secret in the others', async () => {
    await call('account.view', { accountId: theirs.accountId })
    const { secret } = await addEndpoint(server.deps, theirs.accountId, { url: 'http://127.0.0.1:9/hook' })
    const queries = listSettingsContracts().filter(({ contract }) => contract.kind === 'query')
    for (const { name, contract } of queries) {
      if (contract.allowed !== 'owner' && contract.allowed !== 'viewer') continue
      const response = await read(name, inputsOf(theirs)[name])
      const expected = contract.allowed === 'owner' || contract.membersOnly ? 403 : 200
      expect([name, response.statusCode]).toEqual([name, expected])
      const text = JSON.stringify(response)
      for (const hidden of [secret, theirs.apiKey]) expect(text).not.toContain(hidden)
    }
  })

  test('ends after an hour, when it is closed, and with the session', async () => {
    const { db } = server.deps
    await call('account.view', { accountId: theirs.accountId })
    await db
      .updateTable('operator_views')
      .set({ expires_at: new Date(Date.now() - 1000) })
      .execute()
    expect((await read('message.list')).statusCode).toBe(404)

    await call('account.view', { accountId: theirs.accountId })
    await call('account.closeView', { accountId: theirs.accountId })
    expect((await read('message.list')).statusCode).toBe(404)

    await call('account.view', { accountId: theirs.accountId })
    await operator.auth('/sign-out', {})
    expect((await read('message.list')).statusCode).toBe(401)
    expect(
      await db.selectFrom('operator_views').selectAll().orderBy('session_id').orderBy('account_id').execute(),
    ).toEqual([])
    operator = await signedInOperator(server)
  })

  test('belongs to the session that opened it', async () => {
    await call('account.view', { accountId: theirs.accountId })
    const other = await signInWithCode(operator, 1)

    expect((await call('account.list', {}, other)).statusCode).toBe(200)
    expect((await read('message.list', {}, other)).statusCode).toBe(404)
  })

  test('does not restrict an operator who is an owner of the account', async () => {
    const mine = await operator.query<{ accounts: { accountId: string }[] }>('session.get')
    const accountId = mine.data.accounts[0]?.accountId ?? ''
    await call('account.view', { accountId })

    expect((await operator.mutate('publicApi.setAccess', { accountId, enabled: true })).statusCode).toBe(200)
  })

  test('reports an account that does not exist as not found', async () => {
    expect((await call('account.view', { accountId: 'acc_none' })).statusCode).toBe(404)
  })
})

describe('suspending an account', () => {
  test('rejects every send on every node until it is resumed, even if its owners change the API access', async () => {
    const { owner, ...account } = await accountWithOwner(server)
    const { externalId: _, ...message } = exampleSend
    const send = (node: TestServer) => through(node, account).post('/api/v1/message/send', message)
    const { accountId, whatsAppAccountId } = account
    const sendTest = () => owner.mutate('template.sendTest', { accountId, whatsAppAccountId, ...message })
    expect((await send(otherNode)).statusCode).toBe(200)

    const suspended = await call('account.suspend', { accountId })
    expect(suspended).toMatchObject({ statusCode: 200, data: { suspendedAt: expect.any(String) } })
    // Owners can turn API access on and off, but not end a suspension.
    await owner.mutate('publicApi.setAccess', { accountId, enabled: true })
    await owner.mutate('publicApi.regenerateKey', { accountId })
    for (const node of [server, otherNode]) {
      const response = await send(node)
      // The key was replaced; the new one is rejected below.
      expect(response.statusCode).toBe(401)
    }
    const { data } = await owner.mutate<{ apiKey: string }>('publicApi.regenerateKey', { accountId })
    account.apiKey = data.apiKey
    for (const node of [server, otherNode])
      expect((await send(node)).json()).toMatchObject({
        success: false,
        error: { code: 'API_DISABLED', message: expect.stringContaining('suspended') },
      })
    expect(await sendTest()).toMatchObject({ statusCode: 403, error: { data: { code: 'API_DISABLED' } } })
    expect((await owner.query<{ accounts: object[] }>('session.get')).data.accounts).toMatchObject([
      { suspendedAt: suspended.data['suspendedAt'] },
    ])
    const again = await call('account.suspend', { accountId })
    expect(again.data).toEqual(suspended.data)

    await call('account.resume', { accountId })
    for (const node of [server, otherNode]) expect((await send(node)).statusCode).toBe(200)
    expect((await sendTest()).statusCode).toBe(200)
    expect(await auditOf(accountId)).toEqual(
      expect.arrayContaining([
        `${operator.email} suspended the account as an operator of this server: done`,
        `${operator.email} resumed the account as an operator of this server: done`,
      ]),
    )
  })

  test('counts no request of a suspended account', async () => {
    const account = await server.account()
    await call('account.suspend', { accountId: account.accountId })
    await account.get('/api/v1/message')
    await account.post('/api/v1/message/send', {})

    expect(
      await server.deps.db.selectFrom('rate_limits').selectAll().where('account_id', '=', account.accountId).execute(),
    ).toEqual([])
  })
})

test('creates an account and invites its owner with a link', async () => {
  const { statusCode, data } = await call('account.create', { name: 'New shop', ownerEmail: 'New@Example.com' })

  expect(statusCode).toBe(200)
  const accountId = String(data['accountId'])
  expect(data).toMatchObject({ name: 'New shop', invitationLink: expect.stringContaining('/settings/invitation/') })
  expect(await auditOf(accountId)).toEqual([
    `${operator.email} created the account as an operator of this server, and invited new@example.com as owner: done`,
  ])
  // The operator has no role in the new account.
  expect((await operator.query('message.list', { accountId })).statusCode).toBe(404)
})

test('creates no account whose owner cannot be invited', async () => {
  const ownerEmail = 'often@example.com'
  // The number of invitations that one address may receive in an hour.
  for (let count = 1; count <= 20; count++)
    expect((await call('account.create', { name: 'Invited', ownerEmail })).statusCode).toBe(200)

  const response = await call('account.create', { name: 'Not created', ownerEmail })

  expect(response).toMatchObject({ statusCode: 429, error: { data: { code: 'RATE_LIMIT_EXCEEDED' } } })
  const { db } = server.deps
  expect(await db.selectFrom('accounts').select('id').where('name', '=', 'Not created').execute()).toEqual([])
  expect(await db.selectFrom('owner_invitations').selectAll().where('email', '=', ownerEmail).execute()).toHaveLength(
    20,
  )
})

test('records that an operator reads the list of accounts, once for each session and hour on all nodes', async () => {
  const { accountId, owner: user } = await accountWithOwner(server)
  const { secret } = await setUpAuthenticator(server, user)
  await grantOperator(server.deps, user)
  const entry = `${user.email} read the list of all accounts as an operator of this server: done`
  const entries = async () => (await auditOf(accountId)).filter((text) => text === entry).length

  await Promise.all([server, otherNode, server].map((node) => call('account.list', { search: 'x' }, user, node)))
  expect(await entries()).toBe(1)
  expect(server.log.concat(otherNode.log).join('')).toContain('an operator reads the list of all accounts')

  await server.deps.db
    .updateTable('owner_tries')
    .set({ ends_at: new Date(Date.now() - 1000) })
    .execute()
  await call('account.list', {}, user)
  await call('account.list', { cursor: 'acc_0' }, user)
  expect(await entries()).toBe(2)
  await call('account.list', {}, await signInWithCode({ ...user, secret }, 1))
  expect(await entries()).toBe(3)
})

test('lists the accounts with the most failures or the longest lag first', async () => {
  const { db } = server.deps
  const [few, many, late] = [await server.account(), await server.account(), await server.account()]
  const start = new Date(Math.floor(Date.now() / 900_000) * 900_000)
  const addFailed = ({ accountId }: TestAccount, count: number) =>
    db
      .insertInto('message_count_buckets')
      .values({
        account_id: accountId,
        start,
        status: 'failed',
        accepted: false,
        error_code: '131026',
        delivery_seconds: -1,
        whatsapp_account_id: '',
        template_name: '',
        country: '',
        pricing: '',
        count,
      })
      .execute()
  await addFailed(few, 1_000_001)
  await addFailed(many, 1_000_002)
  const { endpointId } = await addEndpoint(server.deps, late.accountId, { url: 'http://127.0.0.1:9/' })
  await db
    .insertInto('webhook_deliveries')
    .values({
      account_id: late.accountId,
      id: server.deps.newId('dlv'),
      endpoint_id: endpointId,
      event_id: server.deps.newId('evt'),
      due_at: new Date(Date.now() - 30 * 86_400_000),
      attempts: 0,
      generation: 0,
      created_at: new Date(),
    })
    .execute()
  const idsOf = async (input: object) => (await call('account.list', input)).data.items.map((item) => item['accountId'])

  const [first, second] = await idsOf({ order: 'failed' })
  expect([first, second]).toEqual([many.accountId, few.accountId])
  expect((await idsOf({ order: 'lag' }))[0]).toBe(late.accountId)
  const page = await call('account.list', { order: 'failed', limit: 1 })
  // An account that now sorts before the first page does not shift the other pages.
  await addFailed(late, 1_000_003)
  expect(await idsOf({ order: 'failed', limit: 1, cursor: page.data['nextCursor'] })).toEqual([few.accountId])
  expect(await idsOf({ order: 'failed', search: few.accountId })).toEqual([few.accountId])
  for (const cursor of ["'; drop table accounts; --", '-1', '1e99', 'acc_1'])
    expect((await call('account.list', { order: 'lag', limit: 1, cursor })).statusCode).toBe(200)
  expect((await call('account.list', { order: 'name' })).statusCode).toBe(400)
})

test('lists all accounts page by page, with their health', async () => {
  const seen: unknown[] = []
  let cursor: unknown
  do {
    const { data } = await call('account.list', { limit: 2, ...(cursor !== undefined && { cursor }) })
    expect(data.items.length).toBeLessThanOrEqual(2)
    seen.push(...data.items.map(({ accountId }) => accountId))
    cursor = data['nextCursor']
  } while (cursor !== undefined)
  const all = await server.deps.db.selectFrom('accounts').select('id').orderBy('id', 'desc').execute()
  expect(seen).toEqual(all.map(({ id }) => id))

  const found = await call('account.list', { search: theirs.accountId })
  expect(found.data.items).toMatchObject([
    {
      accountId: theirs.accountId,
      apiEnabled: true,
      whatsAppAccounts: { total: 1, withProblems: 0 },
      endpoints: { total: expect.any(Number), failing: 0, lagSeconds: expect.any(Number) },
    },
  ])
  for (const search of ['%', '_', '\\', "'; drop table accounts; --"])
    expect((await call('account.list', { search })).data.items).toEqual([])
  expect((await call('account.list', { limit: 51 })).statusCode).toBe(400)
})

test('reads the state of the server and its slow endpoints, without paths of URLs', async () => {
  const { endpointId } = await addEndpoint(server.deps, theirs.accountId, {
    url: 'http://127.0.0.1:9/hook/s3cret?token=s3cret',
  })
  await server.deps.db
    .insertInto('webhook_attempt_counts')
    .values({
      account_id: theirs.accountId,
      endpoint_id: endpointId,
      slot: new Date(),
      status_code: 200,
      error: '',
      attempts: 2,
      duration_ms: '9000',
      max_duration_ms: 8000,
      first_at: new Date(),
      last_at: new Date(),
    })
    .execute()

  const facts = await call('server.get')
  const slow = await call('server.slowEndpoints')

  expect(facts.data).toMatchObject({
    database: { bytes: expect.any(Number), postgresVersion: expect.stringMatching(/^\d+\.\d+/) },
    accounts: { total: expect.any(Number) },
    queue: { failingEndpoints: 0 },
    processes: [],
  })
  expect(slow.data.items[0]).toMatchObject({
    endpointId,
    host: '127.0.0.1:9',
    attempts: 2,
    failed: 0,
    averageMilliseconds: 4500,
    slowestMilliseconds: 8000,
  })
  expect(JSON.stringify(slow)).not.toContain('s3cret')
})
