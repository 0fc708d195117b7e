import { sql } from 'kysely'
import { afterEach, expect, test } from 'vitest'
import { Mailer } from '../../src/platform/email/mailer.ts'
import { createMailTransport } from '../../src/platform/email/transport.ts'
import { listAudit } from '../../src/users/audit/audit.ts'
import { resetPassword } from '../../src/users/change-member.ts'
import { inviteUser } from '../../src/users/invitation.ts'
import { forFile } from '../support/lifetime.ts'
import { signedInOwner, type TestOwner, visitor } from '../support/user.ts'
import { nodeForTest, startTestServer, type TestServer } from '../support/server.ts'
import { type ReceivedEmail, startSmtpServer } from '../support/smtp.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { eventually } from '../support/eventually.ts'

const smtp = await forFile(startSmtpServer())
const server = await forFile(startTestServer({ deps: { mail: createMailTransport(smtp.config) } }))
const mailer = await forFile(new Mailer(server.deps, createMailTransport(smtp.config)))
mailer.start()
const account = await server.account()

afterEach(async () => {
  await server.deps.db.deleteFrom('owner_sign_in_rates').execute()
  await server.deps.db.deleteFrom('owner_tries').execute()
  smtp.received.length = 0
})

const newPassword = 'a new and long password'

function requestReset(email: string, headers: Record<string, string> = {}, at: TestServer = server) {
  return visitor(at).mutate('password.requestReset', { email }, headers)
}

function emailTo(address: string): Promise<ReceivedEmail> {
  return eventually(() => {
    const email = smtp.received.find(({ to }) => to.includes(address))
    if (!email) throw new Error(`no email to ${address}`)
    return email
  })
}

async function requestToken(email: string): Promise<string> {
  await requestReset(email)
  return (await emailTo(email)).link.split('/').at(-1) ?? ''
}

function reset(token: string, password = newPassword) {
  return visitor(server).mutate<{ email: string }>('password.reset', { token, password })
}

async function signsInWith(person: TestOwner, password: string): Promise<boolean> {
  await server.deps.db.deleteFrom('owner_sign_in_rates').execute()
  return (await person.inOtherBrowser().signIn(password)).statusCode === 200
}

test('sends a link that sets a new password once and ends all sessions', async () => {
  const person = await signedInOwner(server, account.accountId)

  const response = await requestReset(person.email.toUpperCase())
  const email = await emailTo(person.email)
  const token = email.link.split('/').at(-1) ?? ''
  const done = await reset(token)
  const again = await reset(token, 'yet another password')

  expect(response).toMatchObject({ statusCode: 200, data: {} })
  expect(email).toMatchObject({ subject: 'Set a new password for Waybill', to: [person.email] })
  expect(email.link).toMatch(/^https:\/\/waybill\.example\.com\/settings\/reset-password\/[\w-]{43}$/)
  expect(done).toMatchObject({ statusCode: 200, data: { email: person.email } })
  expect(again).toMatchObject({ statusCode: 404, error: { data: { code: 'NOT_FOUND' } } })
  expect((await person.query('session.get')).statusCode).toBe(401)
  expect(await signsInWith(person, person.password)).toBe(false)
  expect(await signsInWith(person, newPassword)).toBe(true)
  const { items } = await listAudit(server.deps, { accountId: account.accountId, limit: 5 })
  expect(items.map(({ what }) => what)).toEqual(
    expect.arrayContaining([
      'asked for an email to reset their password',
      'set a new password with a link from an email',
    ]),
  )
})

test('starts the link with WAYBILL_PUBLIC_URL, even if the request names another host', async () => {
  const { email } = await signedInOwner(server, account.accountId)

  await requestReset(email, { host: 'evil.example', origin: 'http://evil.example', 'x-forwarded-host': 'evil.example' })

  const { link, raw } = await emailTo(email)
  expect(new URL(link).origin).toBe('https://waybill.example.com')
  expect(raw).not.toContain('evil.example')
})

test('ends a sign-in that had checked the previous password', async () => {
  const person = await signedInOwner(server, account.accountId)
  const otherBrowser = person.inOtherBrowser()
  const token = await requestToken(person.email)

  const [signedIn, done] = await server.deps.db.transaction().execute(async (trx) => {
    // The reset deletes the sessions after it has set the password, but cannot commit before this lock ends.
    await sql`select from owner_sessions for update`.execute(trx)
    const resetting = reset(token)
    await expect.poll(() => lockWaits(server.deps.db, 'delete from "owner_sessions"%')).not.toEqual([])
    const signingIn = otherBrowser.signIn()
    await expect.poll(() => lockWaits(server.deps.db, '%for share%')).not.toEqual([])
    return [signingIn, resetting] as const
  })

  expect((await done).statusCode).toBe(200)
  expect((await signedIn).statusCode).toBe(401)
  expect((await otherBrowser.query('session.get')).statusCode).toBe(401)
})

test('keeps a password that is reset while somebody changes the previous one', async () => {
  const [checking, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let isChanging = false
  const hashing = {
    hash: (password: string) => Promise.resolve(`hash of ${password}`),
    verify: async ({ hash, password }: { hash: string; password: string }) => {
      if (isChanging) {
        checking.resolve()
        await released.promise
      }
      return hash === `hash of ${password}`
    },
  }
  const node = await nodeForTest(server, { server: { hashing } })
  const person = await signedInOwner(node, account.accountId)
  const token = await requestToken(person.email)
  isChanging = true
  const otherPassword = 'a password of somebody else'
  const changing = person.auth('/change-password', { currentPassword: person.password, newPassword: otherPassword })
  await checking.promise

  const done = await visitor(node).mutate('password.reset', { token, password: newPassword })
  isChanging = false
  released.resolve()

  expect(done.statusCode).toBe(200)
  const changed = await changing
  expect([changed.statusCode, JSON.parse(changed.text)]).toEqual([400, { code: 'INVALID_PASSWORD' }])
  expect((await person.query('session.get')).statusCode).toBe(401)
  expect(await signsInWith(person, otherPassword)).toBe(false)
  expect(await signsInWith(person, newPassword)).toBe(true)
})

test('ends the session of a changed password that was reset before the response', async () => {
  const person = await signedInOwner(server, account.accountId)
  const token = await requestToken(person.email)

  const [changed, done] = await server.deps.db.transaction().execute(async (trx) => {
    // A session refers to its user, so it is not stored before this lock ends.
    await sql`select from owners where email = ${person.email} for update`.execute(trx)
    const passwords = { currentPassword: person.password, newPassword: 'a password of somebody else' }
    const changing = person.auth('/change-password', passwords)
    await expect.poll(() => lockWaits(server.deps.db, 'insert into "owner_sessions"%')).not.toEqual([])
    const resetting = reset(token)
    await expect.poll(() => lockWaits(server.deps.db, 'select "owners"%')).not.toEqual([])
    return [changing, resetting] as const
  })

  expect((await done).statusCode).toBe(200)
  expect((await changed).statusCode).toBe(401)
  expect((await person.query('session.get')).statusCode).toBe(401)
  expect(await signsInWith(person, newPassword)).toBe(true)
})

test('sets the password of one of two concurrent uses of a link', async () => {
  const person = await signedInOwner(server, account.accountId)
  const token = await requestToken(person.email)

  const responses = await Promise.all([reset(token, 'first long password'), reset(token, 'second long password')])

  expect(responses.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 404])
})

test('sets the password of one of two links that are used at once', async () => {
  const person = await signedInOwner(server, account.accountId)
  const first = await requestToken(person.email)
  smtp.received.length = 0
  const second = await requestToken(person.email)
  expect(second).not.toBe(first)

  const started = await server.deps.db.transaction().execute(async (trx) => {
    await sql`select from owners where email = ${person.email} for update`.execute(trx)
    const resets = [reset(first), reset(second)]
    // One waits for the user, the other for the links, which the first has locked.
    await expect.poll(() => lockWaits(server.deps.db)).toHaveLength(2)
    return { resets }
  })
  const responses = await Promise.all(started.resets)

  expect(responses.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 404])
})

test('changes nothing and keeps the link valid if the database fails', async () => {
  const { db } = server.deps
  const person = await signedInOwner(server, account.accountId)
  const token = await requestToken(person.email)
  await sql`
    create function reject_deletion() returns trigger language plpgsql as $$ begin raise 'no deletion'; end $$`.execute(
    db,
  )
  await sql`
    create trigger reject_deletion before delete on owner_sessions execute function reject_deletion()`.execute(db)

  const failed = await reset(token)
  await sql`drop function reject_deletion cascade`.execute(db)

  expect(failed.statusCode).toBe(500)
  expect(await signsInWith(person, person.password)).toBe(true)
  expect((await reset(token)).statusCode).toBe(200)
  expect(await signsInWith(person, newPassword)).toBe(true)
})

test('rejects a link after an hour', async () => {
  const person = await signedInOwner(server, account.accountId)
  const token = await requestToken(person.email)
  const { rows } = await sql<{ minutes: number }>`
    select extract(epoch from "expiresAt" - now())::float8 / 60 as minutes
    from owner_verifications where value = (select id from owners where email = ${person.email})`.execute(
    server.deps.db,
  )
  expect(rows[0]?.minutes).toBeGreaterThan(58)
  expect(rows[0]?.minutes).toBeLessThanOrEqual(60)
  await sql`update owner_verifications set "expiresAt" = now() - interval '1 second'`.execute(server.deps.db)

  expect((await reset(token)).statusCode).toBe(404)
  expect(await signsInWith(person, person.password)).toBe(true)
})

test('changes only the password of the user to whom the link was sent', async () => {
  const [ada, bob] = [await signedInOwner(server, account.accountId), await signedInOwner(server, account.accountId)]
  const token = await requestToken(ada.email)

  const changed = await bob.mutate('password.reset', { token, password: newPassword })
  const guessed = await reset(`${token.slice(0, -1)}A`)

  expect(changed.data).toEqual({ email: ada.email })
  expect(guessed.statusCode).toBe(404)
  expect(await signsInWith(bob, bob.password)).toBe(true)
})

test('returns the same response for an unknown address, and sends nothing there', async () => {
  const person = await signedInOwner(server, account.accountId)

  const [known, unknown] = [await requestReset(person.email), await requestReset('unknown@example.com')]
  await emailTo(person.email)

  expect(unknown).toEqual(known)
  expect(smtp.received.map(({ to }) => to)).toEqual([[person.email]])
})

test('responds before it looks up the user', async () => {
  const person = await signedInOwner(server, account.accountId)
  const responses = await server.deps.db.transaction().execute(async (trx) => {
    await sql`lock table owners in access exclusive mode`.execute(trx)
    return [await requestReset(person.email), await requestReset('unknown@example.com')]
  })

  expect(responses.map(({ statusCode }) => statusCode)).toEqual([200, 200])
  await emailTo(person.email)
})

test('makes links invalid when the password changes in another way', async () => {
  const person = await signedInOwner(server, account.accountId)
  const token = await requestToken(person.email)
  const changed = await person.auth('/change-password', { currentPassword: person.password, newPassword })
  expect(changed.statusCode).toBe(200)
  expect((await reset(token)).statusCode).toBe(404)

  const other = await signedInOwner(server, account.accountId)
  const second = await requestToken(other.email)
  await resetPassword(server.deps, account.accountId, other.email)
  expect((await reset(second)).statusCode).toBe(404)
})

test('makes the link of an operator and other links invalid once one is used', async () => {
  const person = await signedInOwner(server, account.accountId)
  const first = await requestToken(person.email)
  smtp.received.length = 0
  const second = await requestToken(person.email)
  const { path } = await inviteUser(server.deps, account.accountId, {
    email: person.email,
    role: 'owner',
    setsPassword: true,
  })

  expect((await reset(second)).statusCode).toBe(200)
  expect((await reset(first)).statusCode).toBe(404)
  expect((await visitor(server).query('invitation.get', { token: path.split('/').at(-1) })).statusCode).toBe(404)
})

test('keeps the authenticator app, since access to a mailbox must not replace it', async () => {
  const person = await signedInOwner(server, account.accountId)
  await person.auth('/two-factor/enable', { password: person.password })
  await sql`update owners set "twoFactorEnabled" = true where email = ${person.email}`.execute(server.deps.db)

  await reset(await requestToken(person.email))
  const signedIn = await person.inOtherBrowser().signIn(newPassword)

  expect(signedIn.json()).toMatchObject({ twoFactorRedirect: true })
})

test('limits the emails to one address, known or not', async () => {
  const person = await signedInOwner(server, account.accountId)
  for (const email of [person.email, 'nobody-here@example.com']) {
    const codes = []
    for (let count = 0; count < 6; count++) codes.push((await requestReset(email)).statusCode)
    expect(codes).toEqual([200, 200, 200, 200, 200, 429])
  }
})

test('limits the requests from one IP address across all users', async () => {
  const codes = []
  for (let count = 0; count < 21; count++) codes.push((await requestReset(`guess${count}@example.com`)).statusCode)

  expect(codes.filter((code) => code === 200)).toHaveLength(20)
  expect(codes.at(-1)).toBe(429)
})

test('rejects a short password and keeps the link', async () => {
  const person = await signedInOwner(server, account.accountId)
  const token = await requestToken(person.email)

  const short = await reset(token, 'short')

  expect(short).toMatchObject({ statusCode: 400, error: { data: { fields: { password: expect.any(String) } } } })
  expect((await reset(token)).statusCode).toBe(200)
})

test('logs and stores no link', async () => {
  const person = await signedInOwner(server, account.accountId)
  const token = await requestToken(person.email)
  const { rows } = await sql<{ row: string }>`
    select row_to_json(v)::text as row from owner_verifications v
    union all select row_to_json(e)::text from emails e`.execute(server.deps.db)

  expect(rows.length).toBeGreaterThan(0)
  expect(rows.map(({ row }) => row).join('\n')).not.toContain(token)
  expect(server.log.join('\n')).not.toContain(token)
})

test('sends no link to a user who signs in with their organisation only', async () => {
  const issuer = { issuer: 'https://login.example.com', clientId: 'waybill', clientSecret: 'secret' }
  const node = await nodeForTest(server, { server: { oidc: issuer }, deps: { mail: createMailTransport(smtp.config) } })
  const { path } = await inviteUser(server.deps, account.accountId, { email: 'sso@example.com', role: 'viewer' })
  await visitor(node).mutate('invitation.accept', { token: path.split('/').at(-1), name: 'Sso' })
  const person = await signedInOwner(server, account.accountId)

  await requestReset('sso@example.com', {}, node)
  await requestReset(person.email, {}, node)
  await emailTo(person.email)

  expect(smtp.received.flatMap(({ to }) => to)).not.toContain('sso@example.com')
})

test('explains whom to contact if no SMTP server is configured', async () => {
  const plain = await nodeForTest(server)

  const [response, options] = [
    await requestReset('ada@example.com', {}, plain),
    await visitor(plain).query('session.options'),
  ]

  expect(response).toMatchObject({ statusCode: 409, error: { message: expect.stringContaining('people who run it') } })
  expect(options.data).toEqual({ sandbox: true })
  expect((await visitor(server).query('session.options')).data).toEqual({ passwordReset: 'email', sandbox: true })
})

test('sends invitations by email and does not show their link to the owner', async () => {
  const owner = await signedInOwner(server, account.accountId)
  const invitation = { accountId: account.accountId, email: 'bob@example.com', role: 'viewer' }

  const { data } = await owner.mutate<Record<string, unknown>>('member.invite', invitation)
  const email = await emailTo('bob@example.com')
  const accepted = await visitor(server).mutate('invitation.accept', {
    token: email.link.split('/').at(-1),
    name: 'Bob',
    password: newPassword,
  })

  expect(data).not.toHaveProperty('link')
  expect(email.subject).toBe('Invitation to “Test” on Waybill')
  expect(email.body).toContain(`${owner.email} has invited you`)
  expect(email.body).toContain(`/settings/${account.accountId}/alerts#email`)
  expect(accepted.statusCode).toBe(200)
})

test('responds and applies changes as usual while the SMTP server stalls', async () => {
  const owner = await signedInOwner(server, account.accountId)
  smtp.stalls = true
  try {
    const invited = await owner.mutate('member.invite', {
      accountId: account.accountId,
      email: 'slow@example.com',
      role: 'viewer',
    })
    const { data } = await owner.query<{ items: object[] }>('member.invitations', { accountId: account.accountId })

    expect(invited.statusCode).toBe(200)
    expect(data.items).toContainEqual(expect.objectContaining({ email: 'slow@example.com', emailWaiting: true }))
  } finally {
    smtp.stalls = false
  }
})
