import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inviteOwner } from '../../../src/owner/invitation.ts'
import { deleteExpiredSignIns } from '../../../src/owner/retention-store.ts'
import { signedInOwner, visitor } from '../../support/owner.ts'
import { startTestServer, type TestServer } from '../../support/server.ts'

let server: TestServer

beforeAll(async () => {
  server = await startTestServer()
})

afterAll(async () => {
  await server?.close()
})

test('whoever was invited signs in and sees the account', async () => {
  const { accountId } = await server.account()
  const owner = await signedInOwner(server, accountId)

  const { data } = await owner.query('session.get')

  expect(data).toEqual({
    name: 'Ada',
    email: owner.email,
    twoFactor: false,
    accounts: [{ accountId, name: 'Test', role: 'owner' }],
    address: '127.0.0.1',
  })
})

test('an invitation tells what it is for, and is spent by its use', async () => {
  const { accountId } = await server.account()
  const guest = visitor(server)
  const { path } = await inviteOwner(server.deps, accountId, { email: 'Grace@Example.com', role: 'viewer' })
  const token = path.split('/').at(-1)

  expect((await guest.query('invitation.get', { token })).data).toMatchObject({
    accountName: 'Test',
    email: 'grace@example.com',
    role: 'viewer',
  })
  const answers = await Promise.all([
    guest.mutate('invitation.accept', { token, name: 'Grace', password: guest.password }),
    guest.mutate('invitation.accept', { token, name: 'Grace', password: guest.password }),
  ])

  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 404])
  expect(await guest.query('invitation.get', { token })).toMatchObject({
    statusCode: 404,
    error: { message: expect.stringContaining('used or has expired'), data: { code: 'NOT_FOUND' } },
  })
})

test('an invitation that has expired opens nothing', async () => {
  const { accountId } = await server.account()
  const { path } = await inviteOwner(server.deps, accountId, { email: 'late@example.com', role: 'owner' })
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

test('who can sign in already is invited to another account with their own password only', async () => {
  const first = await server.account()
  const second = await server.account()
  const owner = await signedInOwner(server, first.accountId)
  const { path } = await inviteOwner(server.deps, second.accountId, { email: owner.email, role: 'viewer' })
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

test('nobody signs up by themselves, and nothing else of better-auth is served', async () => {
  const stranger = visitor(server, 'stranger@example.com')
  const body = { email: stranger.email, password: stranger.password, name: 'Stranger' }

  const paths = ['/sign-up/email', '/update-user', '/delete-user', '/request-password-reset', '/list-sessions', '/ok']
  const answers = await Promise.all(paths.map((path) => stranger.auth(path, body)))

  expect(answers.map(({ statusCode }) => statusCode)).toEqual(paths.map(() => 404))
  expect((await stranger.signIn()).statusCode).toBe(401)
})

test('a wrong password and an unknown person are answered alike', async () => {
  const { accountId } = await server.account()
  const owner = await signedInOwner(server, accountId)

  const wrong = await owner.elsewhere().signIn('not the password at all')
  const unknown = await visitor(server, 'nobody@example.org').signIn()

  expect(wrong.statusCode).toBe(401)
  expect([unknown.statusCode, unknown.text]).toEqual([wrong.statusCode, wrong.text])
})

test('signing out ends the session', async () => {
  const { accountId } = await server.account()
  const owner = await signedInOwner(server, accountId)

  expect((await owner.auth('/sign-out', {})).statusCode).toBe(200)

  expect(await owner.query('session.get')).toMatchObject({
    statusCode: 401,
    error: { data: { code: 'SIGN_IN_REQUIRED' } },
  })
})

test('changing the password ends every other session', async () => {
  const { accountId } = await server.account()
  const owner = await signedInOwner(server, accountId)
  const elsewhere = owner.elsewhere()
  await elsewhere.signIn()
  expect((await elsewhere.query('session.get')).statusCode).toBe(200)

  const newPassword = 'another password that is long'
  // Whatever a page asks for.
  const changed = await owner.auth('/change-password', {
    currentPassword: owner.password,
    newPassword,
    revokeOtherSessions: false,
  })

  expect(changed.statusCode).toBe(200)
  expect((await elsewhere.query('session.get')).statusCode).toBe(401)
  expect((await owner.query('session.get')).statusCode).toBe(200)
  expect((await elsewhere.signIn()).statusCode).toBe(401)
  expect((await elsewhere.signIn(newPassword)).statusCode).toBe(200)
})

test('a session ends a week after the sign-in, however much it is used', async () => {
  const { accountId } = await server.account()
  const owner = await signedInOwner(server, accountId)
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
  test('is out of reach of scripts and of other sites, and goes nowhere but to the dashboard', async () => {
    const { accountId } = await server.account()
    const owner = await signedInOwner(server, accountId)

    const { headers } = await owner.elsewhere().signIn()

    expect([headers['set-cookie']].flat().join()).toMatch(/HttpOnly/i)
    expect([headers['set-cookie']].flat().join()).toMatch(/SameSite=Lax/i)
    expect([headers['set-cookie']].flat().join()).toMatch(/Path=\/settings/i)
  })

  test('is sent over https only where the server is found by https', async () => {
    const secure = await startTestServer({ beside: server, server: { publicUrl: 'https://waybill.example.com' } })
    const { accountId } = await server.account()
    const { email } = await signedInOwner(server, accountId)

    const { headers } = await secure.request('POST', '/settings/auth/sign-in/email', {
      headers: { 'content-type': 'application/json', origin: 'https://waybill.example.com' },
      body: JSON.stringify({ email, password: 'correct horse battery staple' }),
    })

    expect([headers['set-cookie']].flat().join()).toMatch(/Secure/i)
    await secure.close()
  })
})

test('guessing passwords is slowed down, by the address it comes from', async () => {
  const node = await startTestServer()
  const { accountId } = await node.account()
  const owner = await signedInOwner(node, accountId)
  const guesser = owner.elsewhere()

  const statuses: number[] = []
  for (let guess = 0; guess < 13; guess++) statuses.push((await guesser.signIn(`a guess, number ${guess}`)).statusCode)

  expect(statuses.at(-1)).toBe(429)
  expect(statuses.filter((status) => status === 401).length).toBeLessThan(11)
  await node.close()
})

test('what has expired is not kept: sessions, links, and tries to sign in', async () => {
  const { accountId } = await server.account()
  const owner = await signedInOwner(server, accountId)
  const { db } = server.deps
  await inviteOwner(server.deps, accountId, { email: 'late@example.com', role: 'owner' })
  await db
    .updateTable('owner_invitations')
    .set({ expires_at: new Date(0) })
    .execute()
  const before = await db.selectFrom('owner_sessions').select('id').execute()

  await sql`update owner_sessions set "expiresAt" = now() - interval '1 second'
    where "userId" = (select id from owners where email = ${owner.email})`.execute(db)
  await sql`update owner_sign_in_rates set "lastRequest" = 0`.execute(db)
  await deleteExpiredSignIns(db)

  expect(await db.selectFrom('owner_sessions').select('id').execute()).toHaveLength(before.length - 1)
  expect(await db.selectFrom('owner_invitations').selectAll().execute()).toEqual([])
  expect(await db.selectFrom('owner_sign_in_rates').selectAll().execute()).toEqual([])
})
