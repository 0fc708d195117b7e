import { afterAll, beforeAll, expect, test } from 'vitest'
import { inviteOwner } from '../../../src/owner/invitation.ts'
import { signedInOwner } from '../../support/owner.ts'
import { startTestServer, type TestServer } from '../../support/server.ts'
import { totp } from '../../support/totp.ts'

let server: TestServer

beforeAll(async () => {
  server = await startTestServer({ server: { trustedProxies: ['loopback'] } })
})

afterAll(async () => {
  await server?.close()
})

interface Page {
  items: { who: string; what: string; address: string; outcome: string; at: string }[]
  nextCursor?: string
}

test('a change is on record: who, what, when and from which address', async () => {
  const { accountId } = await server.account()
  const owner = await signedInOwner(server, accountId)
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
      address: '203.0.113.9',
      outcome: 'done',
    },
    expect.objectContaining({ who: owner.email, what: 'accepted an invitation as owner', outcome: 'done' }),
  ])
})

test('a change that was refused is on record as that', async () => {
  const { accountId } = await server.account()
  const owner = await signedInOwner(server, accountId)
  const answer = await owner.mutate('publicApi.setAllowList', { accountId, allowList: ['not an address'] })

  const { data } = await owner.query<Page>('audit.list', { accountId })

  expect(answer).toMatchObject({ statusCode: 400, error: { data: { fields: { allowList: expect.any(String) } } } })
  expect(data.items[0]).toMatchObject({ what: 'set the allow-list to not an address', outcome: 'refused' })
})

test('no secret is in the audit log', async () => {
  const { accountId } = await server.account()
  const owner = await signedInOwner(server, accountId)
  const accessToken = 'EAABsecretsecretsecret'
  const url = 'https://example.com/hook?token=hush'
  await owner.mutate('whatsAppAccount.add', { accountId, phoneNumberId: '815', wabaId: '816', accessToken })
  await owner.mutate('webhook.add', { accountId, url })
  await owner.mutate('publicApi.regenerateKey', { accountId })

  const { data } = await owner.query<Page>('audit.list', { accountId })

  expect(data.items).toHaveLength(4)
  expect(JSON.stringify(data)).not.toMatch(/EAAB|hush|_live_/)
  expect(server.log.join('')).not.toMatch(/EAABsecret|token=hush/)
})

test('the log is read page by page, the newest first', async () => {
  const { accountId } = await server.account()
  const owner = await signedInOwner(server, accountId)
  for (const enabled of [false, true, false]) await owner.mutate('publicApi.setAccess', { accountId, enabled })

  const first = await owner.query<Page>('audit.list', { accountId, limit: 2 })
  const second = await owner.query<Page>('audit.list', { accountId, limit: 2, cursor: first.data.nextCursor })
  expect(second.data.nextCursor).toBeUndefined()

  expect(first.data.items.map(({ what }) => what)).toEqual(['switched API access off', 'switched API access on'])
  expect(second.data.items.map(({ what }) => what)).toEqual([
    'switched API access off',
    'accepted an invitation as owner',
  ])
})

test('what a person changes of how they sign in is on record in each of their accounts, and what was refused too', async () => {
  const accounts = [await server.account(), await server.account()]
  const [first, second] = accounts.map(({ accountId }) => accountId)
  const owner = await signedInOwner(server, first ?? '')
  const { path } = await inviteOwner(server.deps, second ?? '', { email: owner.email, role: 'viewer' })
  await owner.mutate('invitation.accept', { token: path.split('/').at(-1), password: owner.password })
  const newPassword = 'another password that is long'
  const enabled = await owner.auth('/two-factor/enable', { password: owner.password })
  const secret = new URL(JSON.parse(enabled.text).totpURI).searchParams.get('secret') ?? ''
  await owner.auth('/two-factor/verify-totp', { code: totp(secret) })
  await owner.auth('/two-factor/disable', { password: owner.password })
  await forgetTries()
  await owner.auth('/change-password', { currentPassword: 'not the password', newPassword })
  await owner.auth('/change-password', { currentPassword: owner.password, newPassword })

  for (const accountId of [first, second]) {
    const { data } = await owner.query<Page>('audit.list', { accountId, limit: 5 })
    expect(data.items.map(({ what, outcome }) => [what, outcome])).toEqual([
      ['changed their password', 'done'],
      ['changed their password', 'refused'],
      ['put away their authenticator app', 'done'],
      ['confirmed their authenticator app', 'done'],
      ['began to set up an authenticator app', 'done'],
    ])
    expect(new Set(data.items.map(({ who, address }) => `${who} ${address}`))).toEqual(
      new Set([`${owner.email} 127.0.0.1`]),
    )
    expect(JSON.stringify(data)).not.toMatch(new RegExp(`${secret}|${newPassword}|${owner.password}`))
  }
})

test('tries that are not even looked at do not fill the log', async () => {
  const { accountId } = await server.account()
  const owner = await signedInOwner(server, accountId)
  const wrong = { currentPassword: 'not the password', newPassword: 'another password that is long' }
  const statuses: number[] = []
  for (let tries = 0; tries < 5; tries++) statuses.push((await owner.auth('/change-password', wrong)).statusCode)

  const { data } = await owner.query<Page>('audit.list', { accountId })

  expect(statuses).toEqual([400, 400, 400, 429, 429])
  expect(data.items.filter(({ what }) => what === 'changed their password')).toHaveLength(3)
  await forgetTries()
})

/** All people of a test come from one address. */
async function forgetTries(): Promise<void> {
  await server.database.db.deleteFrom('owner_sign_in_rates').execute()
}
