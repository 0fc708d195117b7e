import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { createMailTransport } from '../../../src/platform/email/transport.ts'
import { codeAttempts, consumeRequest, passwordAttempts } from '../../../src/users/sign-in/login-throttle.ts'
import type { PasswordHashing } from '../../../src/users/sign-in/password-hashing.ts'
import { openTestDatabase } from '../../support/database.ts'
import { setUpAuthenticator } from '../../support/operator.ts'
import { startTestServer, type TestResponse } from '../../support/server.ts'
import { startSmtpServer } from '../../support/smtp.ts'
import { forFile } from '../../support/lifetime.ts'
import { signedInOwner, type TestOwner, totp } from '../../support/user.ts'

const smtp = await forFile(startSmtpServer())
const server = await forFile(
  startTestServer({ server: { trustedProxies: ['loopback'] }, deps: { mail: createMailTransport(smtp.config) } }),
)
const { accountId } = await server.account()
let ada: TestOwner

beforeEach(async () => {
  // Signs in from 127.0.0.1.
  ada = await signedInOwner(server, accountId)
})

let networks = 0
/** An address of a network that nobody has used yet. */
const newAddress = () => `2001:db8:${(++networks).toString(16)}::1`

interface From {
  address?: string
  cookie?: string
}

function post(path: string, body: object, { address, cookie }: From, node = server): Promise<TestResponse> {
  return node.request('POST', path, {
    headers: {
      'content-type': 'application/json',
      origin: node.url,
      ...(address !== undefined && { 'x-forwarded-for': address }),
      ...(cookie !== undefined && { cookie }),
    },
    body: JSON.stringify(body),
  })
}

async function signIn(from: From, password = ada.password): Promise<number> {
  return (await post('/settings/auth/sign-in/email', { email: ada.email, password }, from)).statusCode
}

async function requestReset(from: From, email = ada.email): Promise<number> {
  return (await post('/settings/trpc/settings.password.requestReset', { email }, from)).statusCode
}

/** The cookie of the browser in which the user signed in, without that of the session. */
function browserCookie(user = ada): string {
  const cookie = user
    .cookie()
    .split('; ')
    .find((pair) => pair.startsWith('waybill.browser='))
  expect(cookie).toMatch(/^waybill\.browser=[\w-]{43}$/)
  return cookie ?? ''
}

/** Uses up the wrong passwords of a user, as from many networks. */
async function lockOut(): Promise<void> {
  expect(await signIn({ address: newAddress() }, 'a wrong password')).toBe(401)
  await sql`update owner_tries set count = ${passwordAttempts.max} where count > 0`.execute(server.deps.db)
  expect(await signIn({ address: newAddress() })).toBe(429)
}

describe('while wrong passwords from many networks lock a user', () => {
  beforeEach(lockOut)

  test('accepts the right password in a browser in which the user signed in before', async () => {
    const from = { address: newAddress(), cookie: browserCookie() }
    expect(await signIn(from, 'a wrong password')).toBe(401)
    expect(await signIn(from)).toBe(200)
  })

  test('accepts the right password from a network from which the user signed in before', async () => {
    expect(await signIn({})).toBe(200)
  })

  test('lets the user change the password in a session', async () => {
    const newPassword = 'a new and long password'
    const changed = await ada.auth('/change-password', { currentPassword: ada.password, newPassword })
    expect(changed.statusCode).toBe(200)
  })

  test('recognizes neither the browser of another user nor a made-up one', async () => {
    const mallory = await signedInOwner(server, accountId)
    const ofMallory = mallory.cookie()
    for (const cookie of [ofMallory, `waybill.browser=${'A'.repeat(43)}`, 'waybill.browser=', "waybill.browser='or"])
      expect(await signIn({ address: newAddress(), cookie })).toBe(429)
  })

  test('recognizes the browser for half a year', async () => {
    await sql`update owner_tries set ends_at = now() - interval '1 second' where count = 0`.execute(server.deps.db)
    expect(await signIn({ address: newAddress(), cookie: browserCookie() })).toBe(429)
  })
})

test('accepts the right password in a known browser, although others used up the limit of its network', async () => {
  const address = newAddress()
  const statuses = new Set<number>()
  for (let tries = 0; tries < 12; tries++) statuses.add(await signIn({ address }, 'a wrong password'))
  expect(statuses).toEqual(new Set([401, 429]))

  expect(await signIn({ address })).toBe(429)
  expect(await signIn({ address, cookie: browserCookie() })).toBe(200)
})

test('limits wrong passwords in a known browser too', async () => {
  const from = { address: newAddress(), cookie: browserCookie() }
  const statuses = []
  for (let tries = 0; tries < 31; tries++) statuses.push(await signIn(from, 'a wrong password'))

  expect(statuses).toEqual([...Array.from({ length: 30 }, () => 401), 429])
  expect(await signIn(from)).toBe(429)
})

test('sends a reset link that the user requests, although others requested many', async () => {
  const statuses = []
  for (let count = 0; count < 25; count++) statuses.push(await requestReset({ address: newAddress() }))
  expect(statuses).toEqual([...Array.from({ length: 20 }, () => 200), ...Array.from({ length: 5 }, () => 429)])

  expect(await requestReset({ address: newAddress(), cookie: browserCookie() })).toBe(200)
  expect(await requestReset({})).toBe(200)
})

test('does not let one network use up the reset links of a user', async () => {
  const address = newAddress()
  const statuses = []
  for (let count = 0; count < 8; count++) statuses.push(await requestReset({ address }))

  expect(statuses).toEqual([...Array.from({ length: 5 }, () => 200), ...Array.from({ length: 3 }, () => 429)])
  expect(await requestReset({ address: newAddress() })).toBe(200)
})

const database = await forFile(openTestDatabase())

test('counts the first requests of a network exactly, also if they arrive at once', async () => {
  for (let network = 0; network < 200; network++) {
    const request = { key: `192.0.2.${network}|/sign-in`, max: 3, seconds: 60 }
    const lockouts = await Promise.all(Array.from({ length: 8 }, () => consumeRequest(database, request)))
    expect(lockouts.filter((lockout) => lockout === undefined)).toHaveLength(3)
  }
})

/** Signs in with the right password, and returns the status of the code that it then requires. */
async function verifyCode(from: From, code: string): Promise<number> {
  const signedIn = await post('/settings/auth/sign-in/email', { email: ada.email, password: ada.password }, from)
  const pending = [signedIn.headers['set-cookie'] ?? []].flat().map((field) => field.split(';')[0])
  const cookie = [from.cookie, ...pending].filter((pair) => pair !== undefined).join('; ')
  return (await post('/settings/auth/two-factor/verify-totp', { code }, { ...from, cookie })).statusCode
}

test('accepts a code from a network in which others post codes without a sign-in', async () => {
  const { secret } = await setUpAuthenticator(server, ada)
  const address = newAddress()
  const statuses = []
  for (let count = 0; count < 12; count++)
    statuses.push((await post('/settings/auth/two-factor/verify-totp', { code: '000000' }, { address })).statusCode)
  expect(new Set(statuses)).toEqual(new Set([401]))

  expect(await verifyCode({ address, cookie: browserCookie() }, totp(secret, 1))).toBe(200)
})

test('limits the codes of a network, but not those in a known browser', async () => {
  const { secret } = await setUpAuthenticator(server, ada)
  const address = newAddress()
  const statuses = []
  for (let count = 0; count < 11; count++) {
    // Counts codes alone.
    await sql`delete from owner_sign_in_rates where key like '%/sign-in/email'`.execute(server.deps.db)
    statuses.push(await verifyCode({ address }, String(count).padStart(6, '0')))
  }
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429])

  await sql`delete from owner_sign_in_rates where key like '%/sign-in/email'`.execute(server.deps.db)
  expect(await verifyCode({ address, cookie: browserCookie() }, totp(secret, 1))).toBe(200)
})

test('accepts a code where the user signed in before, although somebody with the password used up the others', async () => {
  const { secret } = await setUpAuthenticator(server, ada)
  const wrong = String((Number(totp(secret)) + 500_000) % 1_000_000).padStart(6, '0')
  await verifyCode({ address: newAddress() }, wrong)
  await sql`update owner_tries set count = ${codeAttempts.max} where count > 0 and count < ${codeAttempts.max}`.execute(
    server.deps.db,
  )

  expect(await verifyCode({ address: newAddress() }, totp(secret, 1))).toBe(429)
  expect(await verifyCode({ address: newAddress(), cookie: browserCookie() }, totp(secret, 1))).toBe(200)
})

test('signs in and changes passwords where users are known, while passwords of unknown callers are hashed', async () => {
  const newPassword = 'a new and long password'
  const held = Promise.withResolvers<string>()
  const hashing: PasswordHashing = {
    // better-auth hashes the password of an unknown user, so that the time does not tell that there is none.
    hash: (password) => (password.startsWith('guess') ? held.promise : Promise.resolve(`hash of ${password}`)),
    verify: ({ hash, password }) => Promise.resolve(hash === `hash of ${password}`),
  }
  const node = await startTestServer({ server: { trustedProxies: ['loopback'], hashing } })
  const user = await signedInOwner(node, (await node.account()).accountId)
  const signInOn = (email: string, password: string, from: From = {}) =>
    post('/settings/auth/sign-in/email', { email, password }, { address: newAddress(), ...from }, node)
  const statuses: number[] = []
  const guesses = Array.from({ length: 25 }, (_, index) =>
    signInOn(`guess${index}@example.com`, 'guess of a password').then(
      ({ statusCode }) => void statuses.push(statusCode),
    ),
  )
  // One is hashed, and ten wait.
  await expect.poll(() => statuses).toEqual(Array.from({ length: 14 }, () => 503))

  const known = browserCookie(user)
  expect((await signInOn(user.email, user.password, { cookie: known })).statusCode).toBe(200)
  const passwords = { currentPassword: user.password, newPassword }
  expect((await user.auth('/change-password', passwords)).statusCode).toBe(200)
  expect((await signInOn('somebody@example.com', 'another password')).statusCode).toBe(503)

  held.resolve('hash of nothing')
  await Promise.all(guesses)
  expect(statuses.slice(14)).toEqual(Array.from({ length: 11 }, () => 401))
  expect((await signInOn('somebody@example.com', 'another password')).statusCode).toBe(401)
  await node.close()
})
