import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { inviteUser } from '../../../src/users/invitation.ts'
import { signInAttemptsPerAddress } from '../../../src/users/sign-in/login-throttle.ts'
import { forFile } from '../../support/lifetime.ts'
import { setUpAuthenticator } from '../../support/operator.ts'
import { accountWithOwner, signedInOwner, type TestOwner, totp, visitor } from '../../support/user.ts'
import { startTestServer } from '../../support/server.ts'

const server = await forFile(startTestServer({ server: { trustedProxies: ['loopback'] } }))

interface Page {
  items: { who: string; what: string; address: string; outcome: string; at: string }[]
  nextCursor?: string
}

test('records the user, action, time and address of a change', async () => {
  const { accountId, owner } = await accountWithOwner(server)
  await owner.mutate(
    'publicApi.setAllowList',
    { accountId, allowList: ['198.51.100.7'] },
    { 'x-forwarded-for': '203.0.113.9' },
  )

  const { data } = await owner.query<Page>('audit.list', { accountId })

  expect(data.items).toEqual([
    {
      id: expect.stringMatching(/^aud_/),
      at: expect.any(String),
      who: owner.email,
      what: 'set the allow-list to 198.51.100.7',
      facts: { what: { code: 'change.setAllowList', params: { entries: '198.51.100.7' } } },
      address: '203.0.113.9',
      outcome: 'done',
    },
    expect.objectContaining({ who: owner.email, what: 'signed in with a password', outcome: 'done' }),
    expect.objectContaining({ who: owner.email, what: 'accepted an invitation as owner', outcome: 'done' }),
  ])
})

test('records exports, and tests as such', async () => {
  const account = await server.account()
  const { accountId } = account
  const owner = await signedInOwner(server, accountId)
  const test = { to: '34600111222', template: 'hello_world', language: 'en_US' }
  expect((await owner.mutate('template.sendTest', { accountId, ...test })).statusCode).toBe(200)
  for (const of of ['messages', 'auditLog'])
    expect((await owner.mutate('audit.recordExport', { accountId, of })).statusCode).toBe(200)

  const { data } = await owner.query<Page>('audit.list', { accountId, search: 'messages' })
  expect(data.items).toMatchObject([{ what: 'exported messages as CSV', who: owner.email, outcome: 'done' }])
  const all = (await owner.query<Page>('audit.list', { accountId })).data.items.map(({ what }) => what)
  expect(all.slice(0, 3)).toEqual([
    'exported the audit log as CSV',
    'exported messages as CSV',
    'sent a test message with the template hello_world (en_US)',
  ])
})

test('records a rejected change as refused', async () => {
  const { accountId, owner } = await accountWithOwner(server)
  const response = await owner.mutate('publicApi.setAllowList', { accountId, allowList: ['not an address'] })

  const { data } = await owner.query<Page>('audit.list', { accountId })

  expect(response).toMatchObject({ statusCode: 400, error: { data: { fields: { allowList: expect.any(String) } } } })
  expect(data.items[0]).toMatchObject({ what: 'set the allow-list to not an address', outcome: 'refused' })
})

test('writes no secrets to the audit log', async () => {
  const { accountId, owner } = await accountWithOwner(server)
  const accessToken = 'EAABsecretsecretsecret'
  const url = 'https://example.com/hook?token=hush'
  const number = { phoneNumberId: '815', wabaId: '816', accessToken }
  server.simulator.addPhoneNumber(number)
  await owner.mutate('whatsAppAccount.add', { accountId, ...number })
  await owner.mutate('webhook.add', { accountId, url })
  await owner.mutate('publicApi.regenerateKey', { accountId })

  const { data } = await owner.query<Page>('audit.list', { accountId })

  expect(data.items).toHaveLength(5)
  expect(JSON.stringify(data)).not.toMatch(/EAAB|hush|_live_/)
  expect(server.log.join('')).not.toMatch(/EAABsecret|token=hush/)
})

test('names the host of an added endpoint, and finds entries by user, action and address', async () => {
  const { accountId, owner } = await accountWithOwner(server)
  const from = { 'x-forwarded-for': '203.0.113.77' }
  await owner.mutate('webhook.add', { accountId, url: 'https://crm.example.com/hook?token=secret' }, from)
  await owner.mutate('publicApi.setAllowList', { accountId, allowList: ['198.51.100.7'] })
  const find = async (search: string) =>
    (await owner.query<Page>('audit.list', { accountId, search })).data.items.map(({ what }) => what)

  const added = 'added a webhook endpoint at crm.example.com'
  expect(await find('CRM.example')).toEqual([added])
  expect(await find('203.0.113.77')).toEqual([added])
  expect(await find('allow-list')).toEqual(['set the allow-list to 198.51.100.7'])
  expect(await find(owner.email)).toContain(added)
  expect(await find('100%')).toEqual([])
})

test('finds the entries of one person and of a time', async () => {
  const { accountId } = await server.account()
  const [ada, grace] = [await signedInOwner(server, accountId), await signedInOwner(server, accountId)]
  const change = { accountId, allowList: ['198.51.100.7'] }
  await ada.mutate('publicApi.setAllowList', change)
  const { data: before } = await ada.query<Page>('audit.list', { accountId, limit: 1 })
  const [last] = before.items
  await grace.mutate('publicApi.setAccess', { accountId, enabled: false })
  const find = async (filter: object) =>
    (await ada.query<Page>('audit.list', { accountId, ...filter })).data.items.map(({ what }) => what)

  expect((await find({ who: ada.email })).slice(0, 2)).toEqual([
    'set the allow-list to 198.51.100.7',
    'signed in with a password',
  ])
  expect(await find({ who: grace.email, search: 'API' })).toEqual(['disabled API access'])
  expect(await find({ who: grace.email.slice(1) })).toEqual([])
  expect(await find({ from: last?.at, who: ada.email })).toEqual(['set the allow-list to 198.51.100.7'])
  expect(await find({ until: last?.at })).not.toContain('disabled API access')
})

test('pages through the log, newest first', async () => {
  const { accountId, owner } = await accountWithOwner(server)
  for (const enabled of [false, true, false]) await owner.mutate('publicApi.setAccess', { accountId, enabled })

  const first = await owner.query<Page>('audit.list', { accountId, limit: 2 })
  const second = await owner.query<Page>('audit.list', { accountId, limit: 2, cursor: first.data.nextCursor })

  expect(first.data.items.map(({ what }) => what)).toEqual(['disabled API access', 'enabled API access'])
  expect(second.data.items.map(({ what }) => what)).toEqual(['disabled API access', 'signed in with a password'])
})

test('records changes to sign-in settings in every account of the user, including refused ones', async () => {
  const accounts = [await server.account(), await server.account()]
  const [first, second] = accounts.map(({ accountId }) => accountId)
  const owner = await signedInOwner(server, first ?? '')
  const { path } = await inviteUser(server.deps, second ?? '', { email: owner.email, role: 'viewer' })
  await owner.mutate('invitation.accept', { token: path.split('/').at(-1), name: 'Ada', password: owner.password })
  const newPassword = 'another password that is long'
  const { secret } = await setUpAuthenticator(server, owner)
  await owner.auth('/two-factor/disable', { password: owner.password })
  await resetAttempts()
  await owner.auth('/change-password', { currentPassword: 'not the password', newPassword })
  await owner.auth('/change-password', { currentPassword: owner.password, newPassword })

  for (const accountId of [first, second]) {
    const { data } = await owner.query<Page>('audit.list', { accountId, limit: 5 })
    expect(data.items.map(({ what, outcome }) => [what, outcome])).toEqual([
      ['changed their password', 'done'],
      ['changed their password', 'refused'],
      ['disabled their authenticator app', 'done'],
      ['confirmed their authenticator app', 'done'],
      ['began to set up an authenticator app', 'done'],
    ])
    expect(new Set(data.items.map(({ who, address }) => `${who} ${address}`))).toEqual(
      new Set([`${owner.email} 127.0.0.1`]),
    )
    expect(JSON.stringify(data)).not.toMatch(new RegExp(`${secret}|${newPassword}|${owner.password}`))
  }
})

describe('sign-ins', () => {
  test('are recorded in every account of the user: successes, failures and sign-outs', async () => {
    const accounts = [await server.account(), await server.account()]
    const [first = '', second = ''] = accounts.map(({ accountId }) => accountId)
    const owner = await signedInOwner(server, first)
    const { path } = await inviteUser(server.deps, second, { email: owner.email, role: 'viewer' })
    await owner.mutate('invitation.accept', { token: path.split('/').at(-1), name: 'Ada', password: owner.password })
    const otherBrowser = owner.inOtherBrowser()

    const countRefused = async () =>
      (await entriesOf(owner, second)).filter(({ outcome }) => outcome === 'refused').length
    await otherBrowser.signIn('not the password')
    await expect.poll(countRefused).toBe(1)
    await otherBrowser.signIn()
    await otherBrowser.auth('/sign-out', {})
    await visitor(server, owner.email.toUpperCase()).signIn('not the password')
    await expect.poll(countRefused).toBe(2)

    for (const accountId of [first, second])
      expect((await entriesOf(owner, accountId)).slice(0, 4)).toEqual(
        [
          { what: 'signed in with a password', outcome: 'refused' },
          { what: 'signed out', outcome: 'done' },
          { what: 'signed in with a password', outcome: 'done' },
          { what: 'signed in with a password', outcome: 'refused' },
        ].map((entry) => ({ who: owner.email, address: '127.0.0.1', ...entry })),
      )
    await resetAttempts()
  })

  test('with an unknown email address are logged without the address', async () => {
    const typed = 'hunter2-by-mistake@example.com'
    const before = await readMetric('refused')

    await visitor(server, typed).signIn()

    const readLines = () =>
      server.log.filter((line) => line.includes('rejected a sign-in with an unknown email address'))
    await expect.poll(() => readLines().at(-1)).toContain('"address":"127.0.0.1"')
    expect(server.log.join('')).not.toContain('hunter2')
    expect(await readMetric('refused')).toBe(before + 1)
    await resetAttempts()
  })

  test('are refused before their entry is written, so that the time of the response reveals no address', async () => {
    const { accountId, owner } = await accountWithOwner(server)

    const response = await server.deps.db.transaction().execute(async (trx) => {
      await sql`lock table audit_entries in exclusive mode`.execute(trx)
      return owner.inOtherBrowser().signIn('not the password')
    })

    expect(response.statusCode).toBe(401)
    await expect.poll(async () => (await entriesOf(owner, accountId))[0]?.outcome).toBe('refused')
    await resetAttempts()
  })

  test('record a lockout once, even if more attempts follow', async () => {
    const { accountId, owner } = await accountWithOwner(server)
    await resetAttempts()

    const responses = await Promise.all(
      Array.from({ length: 150 }, () => owner.inOtherBrowser().signIn('not the password')),
    )

    const countStatus = (status: number) => responses.filter(({ statusCode }) => statusCode === status).length
    const checked = countStatus(401)
    // More than the limit if the attempts take so long that some are allowed again.
    expect(checked).toBeGreaterThanOrEqual(signInAttemptsPerAddress.max)
    expect(countStatus(429)).toBe(150 - checked)
    const listRefused = async () => (await entriesOf(owner, accountId)).filter(({ outcome }) => outcome === 'refused')
    await expect.poll(async () => (await listRefused()).length).toBe(checked + 1)
    const refused = await listRefused()
    expect(refused.filter(({ what }) => what === 'signed in with a password')).toHaveLength(checked)
    expect(refused.filter(({ what }) => what === 'was locked out after too many attempts')).toHaveLength(1)
    await resetAttempts()
  })

  test('that require a code are recorded with both steps', async () => {
    const { accountId, owner } = await accountWithOwner(server)
    const { secret, backupCodes } = await setUpAuthenticator(server, owner)
    const otherBrowser = owner.inOtherBrowser()

    await otherBrowser.signIn()
    await otherBrowser.auth('/two-factor/verify-totp', { code: '000000' })
    await otherBrowser.auth('/two-factor/verify-totp', { code: totp(secret, 1) })
    await resetAttempts()
    await otherBrowser.signIn()
    await otherBrowser.auth('/two-factor/verify-backup-code', { code: backupCodes[0] })

    expect((await entriesOf(owner, accountId)).slice(0, 6).map(({ what, outcome }) => [what, outcome])).toEqual([
      ['signed in with a backup code', 'done'],
      ['gave their password, and was asked for a code', 'done'],
      ['signed in with a code of their authenticator app', 'done'],
      ['signed in with a code of their authenticator app', 'refused'],
      ['gave their password, and was asked for a code', 'done'],
      ['confirmed their authenticator app', 'done'],
    ])
    await resetAttempts()
  })
})

async function entriesOf(owner: TestOwner, accountId: string) {
  const { data } = await owner.query<Page>('audit.list', { accountId, limit: 100 })
  return data.items.map(({ who, what, outcome, address }) => ({ who, what, outcome, address }))
}

async function readMetric(outcome: string): Promise<number> {
  const { text } = await server.request('GET', '/metrics')
  return Number(new RegExp(`waybill_sign_ins_total{outcome="${outcome}"} (\\d+)`).exec(text)?.[1] ?? 0)
}

test('does not record attempts that the rate limit rejects', async () => {
  const { accountId, owner } = await accountWithOwner(server)
  const wrong = { currentPassword: 'not the password', newPassword: 'another password that is long' }
  const statuses: number[] = []
  for (let tries = 0; tries < 5; tries++) {
    // The limit of a session is higher.
    if (tries === 3) await sql`update owner_tries set count = 30 where count = 3`.execute(server.database.db)
    statuses.push((await owner.auth('/change-password', wrong)).statusCode)
  }

  const { data } = await owner.query<Page>('audit.list', { accountId })

  expect(statuses).toEqual([400, 400, 400, 429, 429])
  expect(data.items.filter(({ what }) => what === 'changed their password')).toHaveLength(3)
  await resetAttempts()
})

test('records only some of the requests that no limit counts, such as those from a page of another site', async () => {
  const { accountId, owner } = await accountWithOwner(server)
  const body = JSON.stringify({ currentPassword: owner.password, newPassword: 'another password that is long' })
  const headers = { origin: 'https://evil.example', cookie: owner.cookie(), 'content-type': 'application/json' }

  for (let tries = 0; tries < 12; tries++) {
    const { statusCode } = await server.request('POST', '/settings/auth/change-password', { headers, body })
    expect(statusCode).toBe(403)
  }
  await owner.auth('/two-factor/enable', { password: 'not the password' })

  const refused = (await entriesOf(owner, accountId)).filter(({ outcome }) => outcome === 'refused')
  expect(refused.map(({ what }) => what)).toEqual([
    'began to set up an authenticator app',
    ...Array<string>(10).fill('changed their password'),
  ])
})

/** All users of a test share one address. */
async function resetAttempts(): Promise<void> {
  await server.database.db.deleteFrom('owner_sign_in_rates').execute()
}
