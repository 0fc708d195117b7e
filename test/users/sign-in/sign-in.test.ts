import { scryptSync } from 'node:crypto'
import { sql } from 'kysely'
import { describe, expect, test, vi } from 'vitest'
import { acceptInvitation, inviteUser } from '../../../src/users/invitation.ts'
import { createUserAuth } from '../../../src/users/sign-in/better-auth.ts'
import {
  deleteExpiredSignIns,
  passwordAttempts,
  passwordAttemptsPerAddress,
} from '../../../src/users/sign-in/login-throttle.ts'
import { scryptHashing } from '../../../src/users/sign-in/password-hashing.ts'
import { forFile, forTest } from '../../support/lifetime.ts'
import { accountWithOwner, signedInOwner, visitor } from '../../support/user.ts'
import { nodeForTest, startTestServer } from '../../support/server.ts'

const server = await forFile(startTestServer())

test('signs an invited user in and shows their account', async () => {
  const { accountId, owner } = await accountWithOwner(server)

  const { data } = await owner.query('session.get')

  expect(data).toEqual({
    name: 'Ada',
    email: owner.email,
    hasPassword: true,
    twoFactor: false,
    accounts: [{ accountId, name: 'Test', role: 'owner' }],
    address: '127.0.0.1',
    sandbox: {
      recipients: expect.arrayContaining([
        expect.objectContaining({ to: '15550131026', does: expect.stringContaining('131026') }),
      ]),
    },
  })
})

test('describes an invitation and accepts it only once', async () => {
  const { accountId } = await server.account()
  const guest = visitor(server)
  const { path } = await inviteUser(server.deps, accountId, { email: 'Grace@Example.com', role: 'viewer' })
  const token = path.split('/').at(-1)

  expect((await guest.query('invitation.get', { token })).data).toMatchObject({
    accountName: 'Test',
    email: 'grace@example.com',
    role: 'viewer',
  })
  const accepted = await guest.mutate('invitation.accept', { token, name: 'Grace', password: guest.password })

  expect(accepted.statusCode).toBe(200)
  expect(await guest.query('invitation.get', { token })).toMatchObject({
    statusCode: 404,
    error: { message: expect.stringContaining('already used or has expired'), data: { code: 'NOT_FOUND' } },
  })
})

test('rejects an expired invitation', async () => {
  const { accountId } = await server.account()
  const { path } = await inviteUser(server.deps, accountId, { email: 'late@example.com', role: 'owner' })
  await server.deps.db
    .updateTable('owner_invitations')
    .set({ expires_at: new Date(0) })
    .execute()

  const token = path.split('/').at(-1)
  const { statusCode } = await visitor(server).mutate('invitation.accept', {
    token,
    name: 'Late',
    password: 'a password that is long enough',
  })

  expect(statusCode).toBe(404)
})

test('adds an existing user to another account only with their current password', async () => {
  const first = await server.account()
  const second = await server.account()
  const owner = await signedInOwner(server, first.accountId)
  const { path } = await inviteUser(server.deps, second.accountId, { email: owner.email, role: 'viewer' })
  const token = path.split('/').at(-1)

  const wrong = await visitor(server).mutate('invitation.accept', { token, name: 'X', password: 'some other password' })
  const right = await owner.mutate('invitation.accept', { token, name: 'X', password: owner.password })

  expect(wrong).toMatchObject({ statusCode: 400, error: { data: { fields: { password: expect.any(String) } } } })
  expect(right.statusCode).toBe(200)
  const { data } = await owner.query<{ accounts: object[] }>('session.get')
  expect(data.accounts).toEqual([
    { accountId: first.accountId, name: 'Test', role: 'owner' },
    { accountId: second.accountId, name: 'Test', role: 'viewer' },
  ])
})

test('serves no sign-up and no other better-auth route', async () => {
  const attacker = visitor(server, 'attacker@example.com')
  const body = { email: attacker.email, password: attacker.password, name: 'Uninvited' }

  const paths = ['/sign-up/email', '/update-user', '/delete-user', '/request-password-reset', '/list-sessions', '/ok']
  const responses = await Promise.all(paths.map((path) => attacker.auth(path, body)))

  expect(responses.map(({ statusCode }) => statusCode)).toEqual(paths.map(() => 404))
  expect((await attacker.signIn()).statusCode).toBe(401)
})

test('returns the same response for a wrong password and an unknown user', async () => {
  const { owner } = await accountWithOwner(server)

  const wrong = await owner.inOtherBrowser().signIn('not the password at all')
  const unknown = await visitor(server, 'nobody@example.org').signIn()

  expect(wrong.statusCode).toBe(401)
  expect([unknown.statusCode, unknown.text]).toEqual([wrong.statusCode, wrong.text])
})

test('ends the session on sign-out', async () => {
  const { owner } = await accountWithOwner(server)

  expect((await owner.auth('/sign-out', {})).statusCode).toBe(200)

  expect(await owner.query('session.get')).toMatchObject({
    statusCode: 401,
    error: { data: { code: 'SIGN_IN_REQUIRED' } },
  })
})

test.each(['/change-password', '/change-password?x=1'])(
  'ends every other session on a password change: %s',
  async (path) => {
    const { owner } = await accountWithOwner(server)
    const otherBrowser = owner.inOtherBrowser()
    await otherBrowser.signIn()
    expect((await otherBrowser.query('session.get')).statusCode).toBe(200)

    const newPassword = 'another password that is long'
    // Even if the page requests the opposite.
    const changed = await owner.auth(path, { currentPassword: owner.password, newPassword, revokeOtherSessions: false })

    expect(changed.statusCode).toBe(200)
    expect((await otherBrowser.query('session.get')).statusCode).toBe(401)
    expect((await owner.query('session.get')).statusCode).toBe(200)
    expect((await otherBrowser.signIn()).statusCode).toBe(401)
    expect((await otherBrowser.signIn(newPassword)).statusCode).toBe(200)
  },
)

test('ends a session a week after sign-in, even if it is active', async () => {
  const { owner } = await accountWithOwner(server)
  const { db } = server.deps
  const ends = async () =>
    (
      await sql<{ at: Date }>`select s."expiresAt" as at from owner_sessions s
        join owners o on o.id = s."userId" where o.email = ${owner.email}`.execute(db)
    ).rows.map(({ at }) => at.getTime())
  await sql`update owner_sessions set "expiresAt" = now() + interval '1 hour'`.execute(db)
  const before = await ends()

  expect((await owner.query('session.get')).statusCode).toBe(200)

  expect(await ends()).toEqual(before)
})

describe('the cookie of a session', () => {
  test('is hidden from scripts and other sites and sent only to the dashboard', async () => {
    const { owner } = await accountWithOwner(server)

    const { headers } = await owner.inOtherBrowser().signIn()

    expect([headers['set-cookie']].flat().join()).toMatch(/HttpOnly/i)
    expect([headers['set-cookie']].flat().join()).toMatch(/SameSite=Lax/i)
    expect([headers['set-cookie']].flat().join()).toMatch(/Path=\/settings/i)
  })

  test('is sent only over https if the public URL uses https', async () => {
    const secure = await nodeForTest(server, { server: { publicUrl: 'https://waybill.example.com' } })
    const { accountId } = await server.account()
    const { email } = await signedInOwner(server, accountId)

    const { headers } = await secure.request('POST', '/settings/auth/sign-in/email', {
      headers: { 'content-type': 'application/json', origin: 'https://waybill.example.com' },
      body: JSON.stringify({ email, password: 'correct horse battery staple' }),
    })

    expect([headers['set-cookie']].flat().join()).toMatch(/Secure/i)
  })
})

test.each([
  { way: 'https, according to a trusted proxy', trustedProxies: ['loopback'], protocol: 'https', secure: true },
  { way: 'https, according to an untrusted client', trustedProxies: [], protocol: 'https', secure: false },
  { way: 'http', trustedProxies: ['loopback'], protocol: 'http', secure: false },
])('sets secure cookies for a sign-in by $way: $secure', async ({ trustedProxies, protocol, secure }) => {
  const node = await nodeForTest(server, { server: { trustedProxies } })
  const { accountId } = await server.account()
  const { email, password } = await signedInOwner(server, accountId)
  const host = 'waybill.example.com'

  const { statusCode, headers } = await node.request('POST', '/settings/auth/sign-in/email', {
    headers: {
      'content-type': 'application/json',
      host,
      origin: `${secure ? 'https' : 'http'}://${host}`,
      'x-forwarded-proto': protocol,
    },
    body: JSON.stringify({ email, password }),
  })

  const cookies = [headers['set-cookie'] ?? []].flat()
  expect({ statusCode, cookies: cookies.length > 0 }).toEqual({ statusCode: 200, cookies: true })
  for (const cookie of cookies) expect(/; Secure/i.test(cookie)).toBe(secure)
})

test('stores passwords as salted scrypt hashes', async () => {
  // Uses the default hashing, as outside of tests.
  const node = await nodeForTest(server, { server: { hashing: undefined } })
  const { accountId } = await server.account()
  const { email, password, inOtherBrowser } = await signedInOwner(node, accountId)

  const { rows } = await sql<{ password: string }>`
    select password from owner_credentials join owners on owners.id = "userId" where email = ${email}`.execute(
    server.deps.db,
  )
  const [salt = '', key = ''] = rows[0]?.password.split(':') ?? []
  expect(salt).toMatch(/^[0-9a-f]{32}$/)
  expect(scryptSync(password, salt, 64, { N: 16_384, r: 16, p: 1, maxmem: 2 ** 26 }).toString('hex')).toBe(key)
  expect((await inOtherBrowser().signIn()).statusCode).toBe(200)
  expect((await inOtherBrowser().signIn('a wrong password')).statusCode).toBe(401)
})

test('keeps a link valid while the server is too busy to hash the password', async () => {
  const { accountId } = await server.account()
  const { path } = await inviteUser(server.deps, accountId, { email: 'busy@example.com', role: 'owner' })
  const acceptance = { token: path.split('/').at(-1) ?? '', name: 'Ada', password: 'correct horse battery staple' }
  const busy = Promise.withResolvers<void>()
  const hashing = {
    ...scryptHashing,
    hash: (password: string) => busy.promise.then(() => scryptHashing.hash(password)),
  }
  const userAuth = createUserAuth(server.deps, { publicUrl: undefined, oidc: undefined, signInLinks: false, hashing })
  const ways = { userAuth, oidc: undefined, address: '127.0.0.1', browser: undefined }
  // More requests than the server processes and queues.
  const others = Array.from({ length: 22 }, () => userAuth.hashPassword('a password of somebody else'))

  await expect(acceptInvitation(server.deps, ways, acceptance)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })

  busy.resolve()
  await Promise.all(others)
  expect(await acceptInvitation(server.deps, ways, acceptance)).toEqual({ email: 'busy@example.com', accountId })
})

test('limits password attempts by address', async () => {
  const node = await forTest(startTestServer())
  const { owner } = await accountWithOwner(node)
  const guesser = owner.inOtherBrowser()

  const statuses: number[] = []
  for (let guess = 0; guess < 13; guess++) statuses.push((await guesser.signIn(`a guess, number ${guess}`)).statusCode)

  expect(statuses.at(-1)).toBe(429)
  expect(statuses.filter((status) => status === 401).length).toBeLessThan(11)
})

describe('password attempts for one user from many addresses', async () => {
  const node = await forFile(startTestServer({ server: { trustedProxies: ['loopback'] } }))
  const { accountId } = await node.account()

  /** Sets the count of attempts to one less than the limit. */
  const setAttempts = (most: number) => sql`update owner_tries set count = ${most - 1}`.execute(node.deps.db)
  let addresses = 0
  const from = () => ({ 'x-forwarded-for': `203.0.113.${++addresses}` })
  const signInFrom = (email: string, password: string, headers: Record<string, string> = from(), by = node) =>
    by.request('POST', '/settings/auth/sign-in/email', {
      headers: { 'content-type': 'application/json', origin: by.url, ...headers },
      body: JSON.stringify({ email, password }),
    })

  test('are rejected after the limit, in any spelling of the address and for unknown users', async () => {
    const owner = await signedInOwner(node, accountId)
    for (const email of [owner.email, 'nobody@example.org']) {
      await signInFrom(email, 'a wrong password')
      await setAttempts(passwordAttempts.max)

      expect((await signInFrom(email.toUpperCase(), 'a wrong password')).statusCode).toBe(401)
      const refused = await signInFrom(email, owner.password)

      expect(refused.statusCode).toBe(429)
      expect(Number(refused.headers['x-retry-after'])).toBeGreaterThan(0)
    }
    expect((await owner.query('session.get')).statusCode).toBe(200)

    await sql`update owner_tries set ends_at = now() - interval '1 second'`.execute(node.deps.db)
    expect((await signInFrom(owner.email, owner.password)).statusCode).toBe(200)
  })

  test('are rejected immediately if too many run at once', async () => {
    const slow = await nodeForTest(node, { server: { trustedProxies: ['loopback'], hashing: scryptHashing } })
    const tryWith = (email: string) => signInFrom(email, 'a wrong password', from(), slow)

    const responses = await Promise.all(Array.from({ length: 40 }, (_, index) => tryWith(`person${index}@example.org`)))

    expect(new Set(responses.map(({ statusCode }) => statusCode))).toEqual(new Set([401, 503]))
    const refused = responses.find(({ statusCode }) => statusCode === 503)
    expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0)
    expect((await tryWith('person1@example.org')).statusCode).toBe(401)
  })

  test('do not lock the user out if they come from a single network', async () => {
    const owner = await signedInOwner(node, accountId)
    let host = 0
    // All in one network.
    const attacker = () => ({ 'x-forwarded-for': `2001:db8::${(++host).toString(16)}` })
    for (let tries = 0; tries < passwordAttemptsPerAddress.max; tries++) {
      expect((await signInFrom(owner.email, 'a wrong password', attacker())).statusCode).toBe(401)
      await node.deps.db.deleteFrom('owner_sign_in_rates').execute()
    }
    await sql`update owner_tries set count = ${passwordAttempts.max - 1} where count = ${passwordAttemptsPerAddress.max + 1}`.execute(
      node.deps.db,
    )

    expect((await signInFrom(owner.email, owner.password, attacker())).statusCode).toBe(429)
    expect((await signInFrom(owner.email, owner.password)).statusCode).toBe(200)
  })

  test('are also limited in an existing session and for an invitation', async () => {
    const owner = await signedInOwner(node, accountId)
    const { path } = await inviteUser(node.deps, accountId, { email: owner.email, role: 'viewer' })
    const token = path.split('/').at(-1)
    const passwords = { currentPassword: 'a wrong password', newPassword: 'a password of somebody else' }
    await owner.auth('/change-password', passwords)
    await owner.mutate('invitation.accept', { token, name: 'Ada', password: 'a wrong password' })
    await setAttempts(passwordAttempts.max + 1)

    const statuses = [
      (await owner.auth('/change-password', { ...passwords, currentPassword: owner.password })).statusCode,
      (await owner.auth('/two-factor/enable', { password: owner.password })).statusCode,
      (await owner.auth('/two-factor/disable', { password: owner.password })).statusCode,
      (await owner.mutate('invitation.accept', { token, name: 'Ada', password: owner.password })).statusCode,
    ]

    expect(statuses).toEqual([429, 429, 429, 429])
  })
})

test('reports a database failure as an internal error and logs no row data', async () => {
  const node = await forTest(startTestServer())
  const { owner } = await accountWithOwner(node)
  using printed = vi.spyOn(console, 'error').mockReturnValue(undefined)
  await sql`alter table owner_sessions add constraint none_at_all check (id = '') not valid`.execute(node.deps.db)

  const { statusCode, text } = await owner.inOtherBrowser().signIn()

  expect(statusCode).toBe(500)
  expect(JSON.parse(text)).toMatchObject({ error: { code: 'INTERNAL_ERROR' } })
  expect(printed).not.toHaveBeenCalled()
  expect(node.log.join('')).not.toMatch(/Failing row|none_at_all/)
})

test('deletes expired sessions, links and sign-in attempts', async () => {
  const { accountId, owner } = await accountWithOwner(server)
  const { db } = server.deps
  await inviteUser(server.deps, accountId, { email: 'late@example.com', role: 'owner' })
  await db
    .updateTable('owner_invitations')
    .set({ expires_at: new Date(0) })
    .execute()
  const before = await db.selectFrom('owner_sessions').select('id').execute()

  await sql`update owner_sessions set "expiresAt" = now() - interval '1 second'
    where "userId" = (select id from owners where email = ${owner.email})`.execute(db)
  await sql`update owner_sign_in_rates set "lastRequest" = 0`.execute(db)
  await sql`update owner_tries set ends_at = now() - interval '1 second'`.execute(db)
  await deleteExpiredSignIns(db, new Date())

  expect(await db.selectFrom('owner_sessions').select('id').execute()).toHaveLength(before.length - 1)
  expect(await db.selectFrom('owner_invitations').selectAll().execute()).toEqual([])
  expect(await db.selectFrom('owner_sign_in_rates').selectAll().execute()).toEqual([])
  expect((await sql`select 1 from owner_tries`.execute(db)).rows).toEqual([])
})
