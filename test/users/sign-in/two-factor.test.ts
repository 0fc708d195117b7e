import { type KyselyPlugin, sql } from 'kysely'
import { expect, test } from 'vitest'
import { rekey } from '../../../src/accounts/rekey.ts'
import { listStoredSecrets } from '../../../src/cli/stored-secrets.ts'
import { createSecretBox } from '../../../src/platform/secrets.ts'
import { codeAttempts } from '../../../src/users/sign-in/login-throttle.ts'
import { forFile, forTest } from '../../support/lifetime.ts'
import { setUpAuthenticator } from '../../support/operator.ts'
import { accountWithOwner, signedInOwner, totp, visitor } from '../../support/user.ts'
import { nodeForTest, startTestServer, type TestServer } from '../../support/server.ts'

const server = await forFile(startTestServer())

test('requires a code at sign-in after an authenticator app was set up', async () => {
  const { owner } = await accountWithOwner(server)
  const { secret } = await setUpAuthenticator(server, owner)

  const otherBrowser = owner.inOtherBrowser()
  const signIn = await otherBrowser.signIn()

  expect(JSON.parse(signIn.text)).toMatchObject({ twoFactorRedirect: true })
  expect((await otherBrowser.query('session.get')).statusCode).toBe(401)
  expect((await otherBrowser.auth('/two-factor/verify-totp', { code: '000000' })).statusCode).toBe(401)
  expect((await otherBrowser.auth('/two-factor/verify-totp', { code: nextCode(secret) })).statusCode).toBe(200)
  expect(await otherBrowser.query('session.get')).toMatchObject({ statusCode: 200, data: { twoFactor: true } })
})

test('accepts a backup code once', async () => {
  const { owner } = await accountWithOwner(server)
  const { backupCodes } = await setUpAuthenticator(server, owner)
  const [code] = backupCodes

  const [first, second] = [owner.inOtherBrowser(), owner.inOtherBrowser()]
  await first.signIn()
  const used = await first.auth('/two-factor/verify-backup-code', { code })
  await resetAttempts()
  await second.signIn()
  const usedAgain = await second.auth('/two-factor/verify-backup-code', { code })

  expect([used.statusCode, usedAgain.statusCode]).toEqual([200, 401])
})

test('accepts a code once across all browsers', async () => {
  const { owner } = await accountWithOwner(server)
  const { secret } = await setUpAuthenticator(server, owner)
  const [first, second] = [owner.inOtherBrowser(), owner.inOtherBrowser()]
  await first.signIn()
  await second.signIn()
  const code = nextCode(secret)

  const responses = await Promise.all([first, second].map((one) => one.auth('/two-factor/verify-totp', { code })))

  expect(responses.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 401])
})

test('rejects the code that confirmed the app', async () => {
  const { owner } = await accountWithOwner(server)
  const { secret, code } = await setUpAuthenticator(server, owner)
  const otherBrowser = owner.inOtherBrowser()
  await otherBrowser.signIn()

  expect((await otherBrowser.auth('/two-factor/verify-totp', { code })).statusCode).toBe(401)
  expect((await otherBrowser.auth('/two-factor/verify-totp', { code: nextCode(secret) })).statusCode).toBe(200)
})

test('never remembers a browser, even on request', async () => {
  const { owner } = await accountWithOwner(server)
  const { secret } = await setUpAuthenticator(server, owner)
  const otherBrowser = owner.inOtherBrowser()
  await otherBrowser.signIn()

  const verified = await otherBrowser.auth('/two-factor/verify-totp', { code: nextCode(secret), trustDevice: true })

  expect(verified.statusCode).toBe(200)
  expect(JSON.parse((await otherBrowser.signIn()).text)).toMatchObject({ twoFactorRedirect: true })
})

test('limits attempts to guess a code across sign-ins and addresses', async () => {
  const { owner } = await accountWithOwner(server)
  const { secret, backupCodes } = await setUpAuthenticator(server, owner)
  const guesser = owner.inOtherBrowser()
  for (let tries = 1; tries <= codeAttempts.max; tries++) {
    if (tries % 7 === 1) await guesser.signIn()
    const response = await guesser.auth('/two-factor/verify-totp', { code: String(tries).padStart(6, '0') })
    expect(response.statusCode).toBe(401)
    await resetAttempts()
  }

  const codes = [
    await guesser.auth('/two-factor/verify-totp', { code: nextCode(secret) }),
    await guesser.auth('/two-factor/verify-backup-code', { code: backupCodes[0] }),
  ]

  expect(codes.map(({ statusCode }) => statusCode)).toEqual([429, 429])
})

test('ends every other session on setup, since none has provided a code', async () => {
  const { owner } = await accountWithOwner(server)
  const otherBrowser = owner.inOtherBrowser()
  await otherBrowser.signIn()

  await setUpAuthenticator(server, owner)

  expect((await otherBrowser.query('session.get')).statusCode).toBe(401)
  expect((await owner.query('session.get')).statusCode).toBe(200)
})

test('requires the password to set up and turn off the app', async () => {
  const { owner } = await accountWithOwner(server)

  const enabled = await owner.auth('/two-factor/enable', { password: 'not the password' })
  await resetAttempts()
  await setUpAuthenticator(server, owner)
  const disabled = await owner.auth('/two-factor/disable', { password: 'not the password' })

  expect([enabled.statusCode, disabled.statusCode]).toEqual([400, 400])
  expect((await owner.query('session.get')).data).toMatchObject({ twoFactor: true })
})

test('changes the app in a session that was started with its code, or with a backup code', async () => {
  const { owner } = await accountWithOwner(server)
  const first = await setUpAuthenticator(server, owner)
  const { secret, backupCodes } = await setUpAuthenticator(server, owner)
  const otherBrowser = owner.inOtherBrowser()
  await otherBrowser.signIn()
  await otherBrowser.auth('/two-factor/verify-backup-code', { code: backupCodes[0] })
  await resetAttempts()

  const disabled = await otherBrowser.auth('/two-factor/disable', { password: owner.password })

  expect(secret).not.toBe(first.secret)
  expect(disabled.statusCode).toBe(200)
  expect((await otherBrowser.query('session.get')).data).toMatchObject({ twoFactor: false })
})

test.each(['/two-factor/enable', '/two-factor/disable'])(
  'rejects %s after a password change until the next sign-in with a code',
  async (path) => {
    const { owner } = await accountWithOwner(server)
    const { secret } = await setUpAuthenticator(server, owner)
    const newPassword = 'another horse battery staple'
    await owner.auth('/change-password', { currentPassword: owner.password, newPassword })

    const early = await owner.auth(path, { password: newPassword })
    await resetAttempts()
    await owner.signIn(newPassword)
    await owner.auth('/two-factor/verify-totp', { code: nextCode(secret) })
    const later = await owner.auth(path, { password: newPassword })

    expect(early).toMatchObject({ statusCode: 403 })
    expect(early.json()).toMatchObject({ code: 'SECOND_FACTOR_REQUIRED' })
    expect(later.statusCode).toBe(200)
  },
)

test.each([
  // The first read is one of the server, and better-auth itself reads the session after the guard.
  {
    path: '/two-factor/enable',
    body: { password: 'correct horse battery staple' },
    failing: [2],
    code: 'UNAUTHORIZED',
  },
  {
    path: '/two-factor/disable',
    body: { password: 'correct horse battery staple' },
    failing: [2],
    code: 'UNAUTHORIZED',
  },
  {
    path: '/change-password',
    body: { currentPassword: 'a guess', newPassword: 'x'.repeat(12) },
    failing: [2, 3],
    code: 'UNAUTHORIZED',
  },
  { path: '/two-factor/verify-totp', body: { code: '000000' }, failing: [2, 3], code: 'INVALID_TWO_FACTOR_COOKIE' },
])('rejects $path if the session cannot be read when it is checked and counted', async (row) => {
  const { path, body, failing, code } = row
  const { owner } = await accountWithOwner(server)
  await sql`update owners set "twoFactorEnabled" = true where email = ${owner.email}`.execute(server.deps.db)
  let reads = 0
  const plugin: KyselyPlugin = {
    transformQuery: ({ node: query }) => {
      const isRead = query.kind === 'SelectQueryNode' && JSON.stringify(query.from).includes('"owner_sessions"')
      if (isRead && failing.includes((reads += 1))) throw new Error('the session cannot be read')
      return query
    },
    transformResult: ({ result }) => Promise.resolve(result),
  }
  const node = await nodeForTest(server, { deps: { db: server.deps.db.withPlugin(plugin) } })

  const response = await node.request('POST', `/settings/auth${path}`, {
    headers: { origin: node.url, cookie: owner.cookie(), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

  expect(reads).toBeGreaterThan(1)
  expect([response.statusCode, response.json()]).toMatchObject([401, { code }])
})

test('encrypts the shared secret and backup codes and keeps them after a rekey', async () => {
  const { owner } = await accountWithOwner(server)
  const { secret, backupCodes } = await setUpAuthenticator(server, owner)
  const rows = JSON.stringify(await server.deps.db.selectFrom('owner_two_factors').selectAll().execute())
  for (const known of [secret, ...backupCodes]) expect(rows).not.toContain(known)

  const [oldKey, newKey] = [server.deps.randomBytes(32), server.deps.randomBytes(32)]
  const before = await forTest(
    startTestServer({ deps: { secrets: createSecretBox([oldKey], server.deps.randomBytes) } }),
  )
  const customer = await before.account()
  const person = await signedInOwner(before, customer.accountId)
  const shared = await setUpAuthenticator(before, person)
  const both = createSecretBox([newKey, oldKey], server.deps.randomBytes)
  await rekey({ db: before.database.db, secrets: both }, listStoredSecrets)
  const after = await nodeForTest(before, { deps: { secrets: createSecretBox([newKey], server.deps.randomBytes) } })

  const responses = await signInWithCode(after, person.email, nextCode(shared.secret))

  expect(responses).toEqual([200, 200])
})

/** The code that confirmed the app is used up; the next one is already valid. */
function nextCode(secret: string): string {
  return totp(secret, 1)
}

async function signInWithCode(node: TestServer, email: string, code: string): Promise<number[]> {
  const headers = { 'content-type': 'application/json', origin: node.url }
  const signIn = await node.request('POST', '/settings/auth/sign-in/email', {
    headers,
    body: JSON.stringify({ email, password: 'correct horse battery staple' }),
  })
  const cookie = [signIn.headers['set-cookie'] ?? []]
    .flat()
    .map((field) => field.split(';')[0])
    .join('; ')
  const verified = await node.request('POST', '/settings/auth/two-factor/verify-totp', {
    headers: { ...headers, cookie },
    body: JSON.stringify({ code }),
  })
  return [signIn.statusCode, verified.statusCode]
}

/** All users of a test share one address. */
async function resetAttempts(node = server): Promise<void> {
  await node.database.db.deleteFrom('owner_sign_in_rates').execute()
}

test('tells a code whose sign-in has expired from a wrong one', async () => {
  const response = await visitor(server).auth('/two-factor/verify-totp', { code: '123456' })

  expect(response.statusCode).toBe(401)
  expect(JSON.parse(response.text)).toMatchObject({ code: 'INVALID_TWO_FACTOR_COOKIE' })
})
