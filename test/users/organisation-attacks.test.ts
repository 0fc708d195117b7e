import { createHmac } from 'node:crypto'
import { sql } from 'kysely'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { resetPassword } from '../../src/users/change-member.ts'
import { type CookieBrowser, openCookieBrowser } from '../support/cookie-browser.ts'
import { forFile } from '../support/lifetime.ts'
import { startForgedOidcProvider } from '../support/oidc-provider.ts'
import { nodeForTest, startTestServer } from '../support/server.ts'
import { signedInOwner, type TestOwner } from '../support/user.ts'

const provider = await forFile(startForgedOidcProvider())
const server = await forFile(startTestServer({ server: { oidc: provider } }))
const { accountId } = await server.account()
let ada: TestOwner

beforeEach(async () => {
  ada = await signedInOwner(server, accountId)
  provider.claims = { sub: `subject of ${ada.email}`, email: ada.email, email_verified: true, name: 'Ada' }
  provider.forge = (token) => token
  provider.userInfo = {}
  provider.discovery = {}
})

/** Signs in through the provider; returns the error on the sign-in page, or the address of the user. */
async function signIn(
  browser: CookieBrowser = openCookieBrowser(),
  { url: base }: { url: string } = server,
): Promise<{ error: string } | { email: unknown }> {
  // All users of a test share one address.
  await server.deps.db.deleteFrom('owner_sign_in_rates').execute()
  const started = await browser.post(`${base}/settings/auth/sign-in/oauth2`, {
    providerId: 'oidc',
    callbackURL: '/settings/',
    errorCallbackURL: '/settings/sign-in',
  })
  const { url } = (await started.json()) as { url: string }
  const page = new URL((await browser.get(url)).url)
  const session = await browser.get(`${base}/settings/trpc/settings.session.get`)
  const body = (await session.json()) as { result?: { data: { email: unknown } } }
  if (session.status === 200) return { email: body.result?.data.email }
  expect(session.status).toBe(401)
  return { error: page.pathname === '/settings/sign-in' ? (page.searchParams.get('error') ?? '') : page.pathname }
}

const never = new Promise<never>(() => {})
const inPast = (seconds: number) => Math.floor(Date.now() / 1000) - seconds

/** Replaces the header and the signature, and keeps the claims. */
function reSign(token: string, header: object, sign: (input: string) => string): string {
  const input = `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${token.split('.')[1]}`
  return `${input}.${sign(input)}`
}

test('signs in with a valid ID token', async () => {
  expect(await signIn()).toEqual({ email: ada.email })
})

test.each([
  { what: 'of another issuer', claims: () => ({ iss: 'https://evil.example.com' }) },
  { what: 'without an issuer', claims: () => ({ iss: undefined }) },
  { what: 'for another client', claims: () => ({ aud: 'another-client' }) },
  { what: 'for several clients without an authorized party', claims: () => ({ aud: ['waybill', 'another-client'] }) },
  { what: 'authorized for another client', claims: () => ({ aud: ['waybill', 'x'], azp: 'x' }) },
  { what: 'without an audience', claims: () => ({ aud: undefined }) },
  { what: 'that has expired', claims: () => ({ iat: inPast(600), exp: inPast(300) }) },
  { what: 'that never expires', claims: () => ({ exp: undefined }) },
  { what: 'that expires at no number', claims: () => ({ exp: 'never' }) },
  { what: 'that is not valid yet', claims: () => ({ nbf: inPast(-600) }) },
  { what: 'without a subject', claims: () => ({ sub: undefined }) },
  { what: 'whose subject is a list', claims: () => ({ sub: ['a'] }) },
  { what: 'whose subject is empty', claims: () => ({ sub: '' }) },
  { what: 'whose subject contains NUL', claims: () => ({ sub: 'a\0b' }) },
  { what: 'whose email is a list', claims: () => ({ email: ['ada@example.com'] }) },
  { what: 'whose email is an object', claims: () => ({ email: { address: 'ada@example.com' } }) },
  { what: 'whose email is a number', claims: () => ({ email: 7 }) },
  { what: 'whose email contains NUL', claims: () => ({ email: 'ada\0@example.com' }) },
  { what: 'whose verification is a list', claims: () => ({ email_verified: [true] }) },
])('rejects an ID token $what', async ({ claims }) => {
  provider.claims = { ...provider.claims, ...claims() }

  expect(await signIn()).toEqual({ error: 'id_token_invalid' })
})

test.each([
  { what: 'without a signature', forge: (token: string) => reSign(token, { alg: 'none' }, () => '') },
  { what: 'with the signature of another token', forge: (token: string) => `${token.slice(0, -8)}AAAAAAAA` },
  {
    what: 'signed with the client secret',
    forge: (token: string) =>
      reSign(token, { alg: 'HS256' }, (input) =>
        createHmac('sha256', 'a secret between the two of them').update(input).digest('base64url'),
      ),
  },
  { what: 'that is not a token', forge: () => 'not.a.token' },
  { what: 'that is missing', forge: () => undefined },
])('rejects an ID token $what', async ({ forge }) => {
  provider.forge = forge

  expect(await signIn()).toEqual({ error: 'id_token_invalid' })
})

test('rejects a key that the provider does not publish', async () => {
  expect(await signIn()).toEqual({ email: ada.email })

  await provider.changeKey({ publish: false })
  expect(await signIn()).toEqual({ error: 'id_token_invalid' })
  await provider.changeKey({ publish: true })
})

test('accepts a key that the provider has just published', async () => {
  await provider.changeKey({ publish: true })

  // A node that has not read the keys lately.
  const node = await nodeForTest(server, { server: { oidc: provider } })
  expect(await signIn(openCookieBrowser(), node)).toEqual({ email: ada.email })
})

test.each([
  { what: 'names another issuer', discovery: { issuer: 'https://evil.example.com' } },
  { what: 'names no keys', discovery: { jwks_uri: undefined } },
  { what: 'names keys that do not exist', discovery: { jwks_uri: 'http://127.0.0.1:1/keys' } },
])('rejects a sign-in while the discovery document $what', async ({ discovery }) => {
  provider.discovery = discovery

  expect(await signIn()).toEqual({ error: 'provider_unavailable' })
})

describe('a provider that never answers', () => {
  const timeout = AbortSignal.timeout.bind(AbortSignal)

  /** Replaces the limit of a whole sign-in, but not those of single requests. */
  function limitSignIns(limit: () => AbortSignal): void {
    const spy = vi
      .spyOn(AbortSignal, 'timeout')
      .mockImplementation((milliseconds) => (milliseconds > 5_000 ? limit() : timeout(milliseconds)))
    onTestFinished(() => spy.mockRestore())
  }

  test('ends a sign-in that waits for its token', async () => {
    const late = new AbortController()
    limitSignIns(() => late.signal)
    provider.forge = () => {
      late.abort()
      return never
    }

    expect(await signIn()).toEqual({ error: 'provider_unavailable' })
  })

  test('leaves no session of a sign-in whose token comes too late', async () => {
    const late = new AbortController()
    limitSignIns(() => late.signal)
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
    provider.forge = async (token) => {
      late.abort()
      await answered
      return token
    }
    const { db } = server.deps
    const signIns = db.selectFrom('audit_entries').select('id').where('who', '=', ada.email)
    const user = db.selectFrom('owners').select('id').where('email', '=', ada.email)
    const sessions = db.selectFrom('owner_sessions').select('id').where('userId', 'in', user)
    const [signedIn, known] = [await signIns.execute(), await sessions.execute()]

    expect(await signIn()).toEqual({ error: 'provider_unavailable' })
    answer()

    await expect.poll(() => signIns.execute()).toHaveLength(signedIn.length + 1)
    await expect.poll(() => sessions.execute()).toEqual(known)
  })

  test('ends the begin of a sign-in, which waits for its discovery document', async () => {
    provider.discovery = never

    limitSignIns(() => timeout(500))
    const begun = await openCookieBrowser().post(`${server.url}/settings/auth/sign-in/oauth2`, {
      providerId: 'oidc',
      callbackURL: '/settings/',
    })

    expect([begun.status, await begun.json()]).toMatchObject([400, { code: 'INVALID_OAUTH_CONFIGURATION' }])
  })

  test('has a limited number of sign-ins that wait for it', async () => {
    provider.discovery = never
    const late = new AbortController()
    limitSignIns(() => late.signal)
    const node = await nodeForTest(server, { server: { oidc: provider, trustedProxies: ['loopback'] } })
    const body = JSON.stringify({ providerId: 'oidc', callbackURL: '/settings/' })
    const headers = { origin: node.url, 'content-type': 'application/json' }

    const begun = Array.from({ length: 65 }, (_, index) =>
      node.request('POST', '/settings/auth/sign-in/oauth2', {
        headers: { ...headers, 'x-forwarded-for': `203.0.113.${index}` },
        body,
      }),
    )

    const first = await Promise.race(begun)
    late.abort()
    expect([first.statusCode, first.json()]).toMatchObject([400, { code: 'INVALID_OAUTH_CONFIGURATION' }])
    await Promise.all(begun)
  })
})

test('reads the address from the userinfo endpoint only for the subject of the ID token', async () => {
  const { sub, ...userInfo } = provider.claims
  provider.claims = { sub }
  provider.userInfo = { ...userInfo, sub: 'another subject' }
  expect(await signIn()).toEqual({ error: 'id_token_invalid' })

  provider.userInfo = { ...userInfo, sub, email: [ada.email] }
  expect(await signIn()).toEqual({ error: 'id_token_invalid' })

  provider.userInfo = { ...userInfo, sub, name: { first: 'Ada' } }
  expect(await signIn()).toEqual({ email: ada.email })
})

test('rejects another subject with the same verified address, until an operator resets the sign-in', async () => {
  expect(await signIn()).toEqual({ email: ada.email })
  const { sub } = provider.claims
  provider.claims = { ...provider.claims, sub: 'somebody who was given the address later' }

  expect(await signIn()).toEqual({ error: 'unable_to_link_account' })
  provider.claims = { ...provider.claims, sub }
  expect(await signIn()).toEqual({ email: ada.email })

  await resetPassword(server.deps, accountId, ada.email)
  provider.claims = { ...provider.claims, sub: 'the same person with a new identity' }
  expect(await signIn()).toEqual({ email: ada.email })
})

test('links one of several subjects that sign in at the same time', async () => {
  const subjects = Array.from({ length: 3 }, (_, index) => `concurrent subject ${index} of ${ada.email}`)
  let next = 0
  provider.forge = async () => {
    const claims = provider.claims
    provider.claims = { ...claims, sub: subjects[next++ % subjects.length] }
    return provider.sign()
  }

  const outcomes = await Promise.all(subjects.map(() => signIn()))

  expect(outcomes.filter((outcome) => 'email' in outcome)).toHaveLength(1)
  expect(outcomes.filter((outcome) => 'error' in outcome)).toEqual(
    Array.from({ length: 2 }, () => ({ error: 'unable_to_link_account' })),
  )
})

test('keeps the first of the subjects that an earlier version linked', async () => {
  const [first, second] = [`first ${ada.email}`, `second ${ada.email}`]
  for (const [sub, day] of [
    [first, '2026-01-01'],
    [second, '2026-02-01'],
  ])
    await sql`insert into owner_credentials (id, "accountId", "providerId", "userId", "createdAt")
      select ${sub}, ${sub}, 'oidc', id, ${day}::timestamptz from owners where email = ${ada.email}`.execute(
      server.deps.db,
    )

  provider.claims = { ...provider.claims, sub: second }
  expect(await signIn()).toEqual({ error: 'unable_to_link_account' })
  provider.claims = { ...provider.claims, sub: first, email: 'a-new-address@example.com' }
  expect(await signIn()).toEqual({ email: ada.email })
  expect(await signIn()).toEqual({ email: ada.email })
})

test('links users anew after the server was given another provider', async () => {
  expect(await signIn()).toEqual({ email: ada.email })
  await sql`update owner_credentials set "accountId" = 'https://former.example.com#7' where "providerId" = 'oidc'
    and "userId" = (select id from owners where email = ${ada.email})`.execute(server.deps.db)

  expect(await signIn()).toEqual({ email: ada.email })
  expect(await signIn()).toEqual({ email: ada.email })
})

test('logs why a sign-in was rejected, without the token or the address', async () => {
  server.log.length = 0
  provider.claims = { ...provider.claims, aud: 'another-client' }
  await signIn()

  const lines = server.log.filter((line) => line.includes('rejected a sign-in with the organisation'))
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ reason: 'the claim aud of the ID token is missing or not valid' })
  expect(server.log.join('')).not.toContain(ada.email)
})
