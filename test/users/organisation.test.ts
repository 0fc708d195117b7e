import { sql } from 'kysely'
import { afterEach, describe, expect, test } from 'vitest'
import { Mailer } from '../../src/platform/email/mailer.ts'
import { createMailTransport } from '../../src/platform/email/transport.ts'
import { listAudit } from '../../src/users/audit/audit.ts'
import { inviteUser } from '../../src/users/invitation.ts'
import { grantOperator } from '../../src/users/operators.ts'
import { type CookieBrowser, openCookieBrowser } from '../support/cookie-browser.ts'
import { forFile, forTest } from '../support/lifetime.ts'
import { startOidcProvider } from '../support/oidc-provider.ts'
import { setUpAuthenticator } from '../support/operator.ts'
import { accountWithOwner, signedInOwner, type TestOwner, totp, visitor } from '../support/user.ts'
import { nodeForTest, startTestServer } from '../support/server.ts'
import { startSmtpServer } from '../support/smtp.ts'
import { eventually } from '../support/eventually.ts'

const provider = await forFile(startOidcProvider())
const server = await forFile(startTestServer({ server: { oidc: provider } }))
provider.serve(server.url)

afterEach(() => server.deps.db.deleteFrom('owner_sign_in_rates').execute())

/** Signs in in a new browser and follows the redirects from the button to the last page. */
async function signInWithOrganisation(person: typeof provider.person): Promise<{ browser: CookieBrowser; page: URL }> {
  provider.person = person
  const browser = openCookieBrowser()
  const started = await browser.post(`${server.url}/settings/auth/sign-in/oauth2`, {
    providerId: 'oidc',
    callbackURL: '/settings/',
    errorCallbackURL: '/settings/sign-in',
  })
  const { url } = (await started.json()) as { url: string }
  return { browser, page: new URL((await browser.get(url)).url) }
}

async function sessionOf(browser: CookieBrowser): Promise<{ status: number; data?: Record<string, unknown> }> {
  const response = await browser.get(`${server.url}/settings/trpc/settings.session.get`)
  const body = (await response.json()) as { result?: { data: Record<string, unknown> } }
  return { status: response.status, data: body.result?.data }
}

/** Requests a password reset on a node that sends email, and uses its link. */
async function resetByEmail(email: string, password: string): Promise<void> {
  const smtp = await forTest(startSmtpServer())
  const transport = createMailTransport(smtp.config)
  const node = await nodeForTest(server, { deps: { mail: transport } })
  const mailer = await forTest(new Mailer(node.deps, transport))
  mailer.start()
  await visitor(node).mutate('password.requestReset', { email })
  await eventually(() => expect(smtp.received).toHaveLength(1))
  const reset = await visitor(node).mutate('password.reset', { token: tokenOf(smtp.received[0]?.link), password })
  expect(reset.statusCode).toBe(200)
}

function tokenOf(link = ''): string {
  return link.split('/').at(-1) ?? ''
}

test('lets an invited user accept without a password and sign in with their organisation', async () => {
  const { accountId } = await server.account()
  const { path } = await inviteUser(server.deps, accountId, { email: 'ada@example.com', role: 'owner' })
  await visitor(server).mutate('invitation.accept', { token: tokenOf(path), name: 'Ada' })

  const { browser } = await signInWithOrganisation({ email: 'ada@example.com', email_verified: true })

  expect(await sessionOf(browser)).toMatchObject({
    status: 200,
    data: { email: 'ada@example.com', accounts: [{ accountId, role: 'owner' }] },
  })
  const [entry] = (await listAudit(server.deps, { accountId, limit: 1 })).items
  expect(entry).toMatchObject({ who: 'ada@example.com', what: 'signed in with their organisation', outcome: 'done' })
})

test('links a sign-in with an organisation to the existing user with a password', async () => {
  const { accountId } = await server.account()
  const { email } = await signedInOwner(server, accountId, { email: 'both@example.com' })

  const { browser } = await signInWithOrganisation({ email, email_verified: true })

  expect(await sessionOf(browser)).toMatchObject({ status: 200, data: { email } })
})

test('does not link the user of an invitation that an owner could have accepted in their name', async () => {
  const { accountId, owner } = await accountWithOwner(server)
  const victim = 'victim@example.com'
  const { data } = await owner.mutate<{ link: string }>('member.invite', { accountId, email: victim, role: 'viewer' })
  const token = tokenOf(data.link)
  // The owner keeps the link and chooses a password that only they know.
  await visitor(server).mutate('invitation.accept', { token, name: 'Victim', password: 'known to the owner' })

  const { browser, page } = await signInWithOrganisation({ email: victim, email_verified: true })

  expect(page.search).toBe('?error=account_not_linked')
  expect((await sessionOf(browser)).status).toBe(401)
})

describe('an invitation to an address that another tenant registered first', () => {
  const attackersPassword = 'known to the attacker'

  /** Another tenant accepts an invitation that they were shown, with their own password and authenticator app. */
  async function register(victim: string): Promise<TestOwner> {
    const { accountId, owner: mallory } = await accountWithOwner(server)
    const invitation = { accountId, email: victim, role: 'viewer' }
    const { data } = await mallory.mutate<{ link: string }>('member.invite', invitation)
    const impostor = { ...visitor(server, victim), password: attackersPassword }
    await impostor.mutate('invitation.accept', {
      token: tokenOf(data.link),
      name: 'Mallory',
      password: attackersPassword,
    })
    await server.deps.db.deleteFrom('owner_sign_in_rates').execute()
    await impostor.signIn(attackersPassword)
    await setUpAuthenticator(server, impostor)
    expect((await impostor.query('session.get')).data).toMatchObject({ email: victim, twoFactor: true })
    return impostor
  }

  test('needs proof of who accepts it', async () => {
    const victim = 'registered1@example.com'
    const impostor = await register(victim)
    const { accountId, owner: bob } = await accountWithOwner(server)
    const { data } = await bob.mutate<{ link: string }>('member.invite', { accountId, email: victim, role: 'owner' })

    const accepted = await visitor(server).mutate('invitation.accept', { token: tokenOf(data.link), name: 'Victim' })

    expect(accepted).toMatchObject({ statusCode: 401, error: { data: { code: 'SIGN_IN_REQUIRED' } } })
    expect((await impostor.query('member.list', { accountId })).statusCode).toBe(404)
    const read = await visitor(server).query('invitation.get', { token: tokenOf(data.link) })
    expect(read).toMatchObject({ statusCode: 200, data: { replacesCredentials: false } })
  })

  test.each([
    { how: 'the organisation', email: 'registered2@example.com', password: undefined, passwordStatus: 401 },
    { how: 'a new password', email: 'registered3@example.com', password: 'chosen by the victim', passwordStatus: 200 },
  ])(
    'replaces all earlier credentials if it proves the address, with $how',
    async ({ email, password, passwordStatus }) => {
      const impostor = await register(email)
      const { accountId } = await server.account()
      const token = tokenOf((await inviteUser(server.deps, accountId, { email, role: 'owner' })).path)
      const read = await visitor(server).query('invitation.get', { token })

      const accepted = await visitor(server).mutate('invitation.accept', { token, name: 'Victim', password })

      expect(read.data).toMatchObject({ replacesCredentials: true })
      expect(accepted.statusCode).toBe(200)
      expect((await impostor.query('session.get')).statusCode).toBe(401)
      expect((await impostor.inOtherBrowser().signIn(attackersPassword)).statusCode).toBe(401)
      const { browser } = await signInWithOrganisation({ email, email_verified: true })
      expect(await sessionOf(browser)).toMatchObject({
        status: 200,
        data: {
          name: 'Victim',
          email,
          twoFactor: false,
          accounts: expect.arrayContaining([expect.objectContaining({ accountId, role: 'owner' })]),
        },
      })
      expect((await impostor.inOtherBrowser().signIn(password)).statusCode).toBe(passwordStatus)
      const { items } = await listAudit(server.deps, { accountId, limit: 5 })
      expect(items.map(({ what }) => what)).toContain(
        'verified their email address, which removed their earlier password and authenticator app',
      )
    },
  )

  test('is not accepted with one click in a session from before its proof', async () => {
    const email = 'registered4@example.com'
    const impostor = await register(email)
    const { accountId } = await server.account()
    const token = tokenOf((await inviteUser(server.deps, accountId, { email, role: 'owner' })).path)

    const joined = await impostor.mutate('invitation.join', { token })

    expect(joined).toMatchObject({ statusCode: 409, error: { data: { code: 'SETTING_REFUSED' } } })
    expect((await impostor.query('member.list', { accountId })).statusCode).toBe(404)
  })

  test('does not become an operator before the address is proved', async () => {
    const email = 'registered7@example.com'
    await register(email)

    const early = grantOperator(server.deps, { email })
    await expect(early).rejects.toMatchObject({
      code: 'SETTING_REFUSED',
      remedy: expect.stringContaining('owner reset-password'),
    })
    await resetByEmail(email, 'chosen by the victim')

    expect(await grantOperator(server.deps, { email })).toMatchObject({ email, twoFactor: false })
  })

  test('keeps the credentials of an operator, whom the command line of an earlier version has vouched for', async () => {
    const email = 'registered5@example.com'
    const impostor = await register(email)
    await sql`insert into operators (owner_id) select id from owners where email = ${email}`.execute(server.deps.db)
    const { accountId } = await server.account()
    const token = tokenOf((await inviteUser(server.deps, accountId, { email, role: 'owner' })).path)

    const accepted = await visitor(server).mutate('invitation.accept', { token, name: 'Victim' })

    expect(accepted).toMatchObject({ statusCode: 401, error: { data: { code: 'SIGN_IN_REQUIRED' } } })
    expect((await impostor.query('session.get')).data).toMatchObject({ twoFactor: true })
  })

  test('a password reset by email removes the authenticator app too', async () => {
    const email = 'registered6@example.com'
    await register(email)
    const person = visitor(server, email)

    await resetByEmail(email, 'chosen by the victim')
    const signedIn = await person.signIn('chosen by the victim')

    expect(signedIn.statusCode).toBe(200)
    expect((await person.query('session.get')).data).toMatchObject({ twoFactor: false })
  })
})

test('lets a user of the organisation sign in and join another account', async () => {
  const email = 'joins@example.com'
  const [first, second] = [await server.account(), await server.account()]
  const invite = async ({ accountId }: { accountId: string }) =>
    tokenOf((await inviteUser(server.deps, accountId, { email, role: 'viewer' })).path)
  await visitor(server).mutate('invitation.accept', { token: await invite(first), name: 'Ada' })
  const token = await invite(second)

  const accepted = await visitor(server).mutate('invitation.accept', { token, name: 'Ada' })
  const { browser } = await signInWithOrganisation({ email, email_verified: true })
  const joined = await browser.post(`${server.url}/settings/trpc/settings.invitation.join`, { token })

  expect(accepted).toMatchObject({ statusCode: 401, error: { data: { code: 'SIGN_IN_REQUIRED' } } })
  expect(joined.status).toBe(200)
  expect((await sessionOf(browser)).data).toMatchObject({
    accounts: expect.arrayContaining([expect.objectContaining({ accountId: second.accountId })]),
  })
})

test('rejects a user without an invitation, even with a verified email address', async () => {
  const { browser, page } = await signInWithOrganisation({ email: 'uninvited@example.com', email_verified: true })

  expect(page.pathname + page.search).toBe('/settings/sign-in?error=signup_disabled')
  expect((await sessionOf(browser)).status).toBe(401)
})

test.each([
  { how: 'has not verified', address: 'victim1@example.com', verified: false },
  { how: 'has not verified, with "false" as text', address: 'victim2@example.com', verified: 'false' },
  { how: 'does not report as verified', address: 'victim3@example.com', verified: undefined },
  { how: 'has verified, but which only looks similar', address: 'mar\u212a@example.com', verified: true },
])('rejects an email address that the provider $how', async ({ address, verified }) => {
  const { accountId } = await server.account()
  await signedInOwner(server, accountId, { email: address.toLowerCase() })

  const { browser, page } = await signInWithOrganisation({ email: address, email_verified: verified as boolean })

  expect(page.search).toBe('?error=account_not_linked')
  expect((await sessionOf(browser)).status).toBe(401)
})

test('compares email addresses without case and accepts "true" as text', async () => {
  const { accountId } = await server.account()
  const { email } = await signedInOwner(server, accountId, { email: 'grace@example.com' })

  // AWS Cognito sends the claim as text.
  const { browser } = await signInWithOrganisation({
    email: 'Grace@Example.com',
    email_verified: 'true' as unknown as boolean,
  })

  expect(await sessionOf(browser)).toMatchObject({ status: 200, data: { email } })
})

test('does not let a session of the organisation replace or turn off the authenticator app', async () => {
  const { accountId, owner } = await accountWithOwner(server)
  const { password } = owner
  const { secret } = await setUpAuthenticator(server, owner)
  const { browser } = await signInWithOrganisation({ email: owner.email, email_verified: true })

  const responses = []
  for (const path of ['enable', 'disable', 'generate-backup-codes'])
    responses.push(await browser.post(`${server.url}/settings/auth/two-factor/${path}`, { password }))

  expect(responses.map(({ status }) => status)).toEqual([403, 403, 404])
  expect(await responses[0]?.json()).toMatchObject({ code: 'SECOND_FACTOR_REQUIRED' })
  expect(await sessionOf(browser)).toMatchObject({ status: 200, data: { twoFactor: true } })
  await server.deps.db.deleteFrom('owner_sign_in_rates').execute()
  const elsewhere = owner.inOtherBrowser()
  await elsewhere.signIn()
  expect((await elsewhere.auth('/two-factor/verify-totp', { code: totp(secret, 1) })).statusCode).toBe(200)
  const { items } = await listAudit(server.deps, { accountId, limit: 10 })
  expect(items).toContainEqual(
    expect.objectContaining({ what: 'began to set up an authenticator app', outcome: 'refused' }),
  )
})

test('does not let a password that was reset by email replace the authenticator app', async () => {
  const { owner } = await accountWithOwner(server)
  await setUpAuthenticator(server, owner)
  const password = 'chosen by whoever reads the mailbox'
  await resetByEmail(owner.email, password)
  const { browser } = await signInWithOrganisation({ email: owner.email, email_verified: true })

  const response = await browser.post(`${server.url}/settings/auth/two-factor/enable`, { password })

  expect((await sessionOf(browser)).status).toBe(200)
  expect(response.status).toBe(403)
})

test('stores no token of the provider', async () => {
  const { accountId } = await server.account()
  const { email } = await signedInOwner(server, accountId)
  const person = { email, email_verified: true }
  await signInWithOrganisation(person)
  await signInWithOrganisation(person)

  const { rows } = await sql<Record<string, unknown>>`
    select "accessToken", "refreshToken", "idToken" from owner_credentials where "providerId" = 'oidc'`.execute(
    server.deps.db,
  )

  expect(rows.length).toBeGreaterThan(0)
  expect(new Set(rows.flatMap((row) => Object.values(row)))).toEqual(new Set([null]))
})

test('shows the name of the provider on the sign-in page', async () => {
  const { data } = await visitor(server).query('session.options')

  expect(data).toEqual({ organisation: new URL(provider.issuer).host, sandbox: true })
})

test('without a provider, requires a password for an invitation and serves no OpenID route', async () => {
  const plain = await nodeForTest(server)
  const { accountId } = await plain.account()
  const { path } = await inviteUser(plain.deps, accountId, { email: 'alone@example.com', role: 'owner' })
  const person = visitor(plain)

  const accepted = await person.mutate('invitation.accept', { token: tokenOf(path), name: 'Alone' })

  expect(accepted).toMatchObject({ statusCode: 400, error: { data: { fields: { password: 'is required' } } } })
  expect((await person.auth('/sign-in/oauth2', { providerId: 'oidc' })).statusCode).toBe(404)
  expect((await person.query('session.options')).data).toEqual({ sandbox: true })
})
