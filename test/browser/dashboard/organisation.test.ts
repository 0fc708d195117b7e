import { beforeEach, expect, test } from 'vitest'
import { inviteUser } from '../../../src/users/invitation.ts'
import { startOidcProvider } from '../../support/oidc-provider.ts'
import { forFile } from '../../support/lifetime.ts'
import { findViolationsInBothSchemes, password, startDashboard, type Visit } from './support.ts'

const provider = await forFile(startOidcProvider())
const { host, origin } = new URL(provider.issuer)
const dashboard = await forFile(startDashboard({ server: { oidc: provider } }, [origin]))
provider.serve(dashboard.server.url)

beforeEach(async () => {
  // All users of a test share one IP address.
  await dashboard.server.database.db.deleteFrom('owner_sign_in_rates').execute()
})

/** The dashboard path of a new invitation. */
async function invite(email: string): Promise<string> {
  const { accountId } = await dashboard.server.account()
  const { path } = await inviteUser(dashboard.server.deps, accountId, { email, role: 'owner' })
  return path.replace('/settings', '')
}

async function signInWithOrganisation({ page }: Visit): Promise<void> {
  await page.getByRole('button', { name: `Sign in with ${host}` }).click()
}

test('accepts an invitation with the organisation and signs in with it later', async () => {
  const link = await invite('grace@example.com')
  provider.person = { email: 'grace@example.com', email_verified: true }
  const guest = await dashboard.visit()
  await guest.open(link)
  await guest.page.getByLabel('Your name').fill('Grace Hopper')
  await guest.page.getByRole('button', { name: `Accept and sign in with ${host}` }).click()
  await guest.page.getByRole('button', { name: /Grace Hopper/ }).waitFor()

  const elsewhere = await dashboard.visit()
  await elsewhere.open('/profile')
  await signInWithOrganisation(elsewhere)

  await elsewhere.page.getByRole('heading', { level: 1, name: 'Profile' }).waitFor()
  await elsewhere.page.getByText('grace@example.com', { exact: true }).waitFor()
})

test('signs in from an address with characters that are rare in addresses', async () => {
  provider.person = { email: 'hedy@example.com', email_verified: true }
  const guest = await dashboard.visit()
  await guest.open(await invite('hedy@example.com'))
  await guest.page.getByLabel('Your name').fill('Hedy Lamarr')
  await guest.page.getByRole('button', { name: `Accept and sign in with ${host}` }).click()
  await guest.page.getByRole('button', { name: /Hedy Lamarr/ }).waitFor()
  const elsewhere = await dashboard.visit()
  await elsewhere.open('/profile?from=10:30*~(é?)#password')

  await signInWithOrganisation(elsewhere)

  await elsewhere.page.getByRole('heading', { level: 1, name: 'Profile' }).waitFor()
  expect(new URL(elsewhere.page.url()).searchParams.get('from')).toBe('10:30*~(é?)')
})

test('leads an existing user to the organisation and back, to join with one click', async () => {
  const email = 'margaret@example.com'
  provider.person = { email, email_verified: true }
  const link = await invite(email)
  const guest = await dashboard.visit()
  await guest.open(link)
  await guest.page.getByLabel('Your name').fill('Margaret Hamilton')
  await guest.page.getByRole('button', { name: `Accept and sign in with ${host}` }).click()
  await guest.page.getByRole('button', { name: /Margaret Hamilton/ }).waitFor()

  const elsewhere = await dashboard.visit()
  await elsewhere.open(await invite(email))
  await elsewhere.page.getByLabel('Your name').fill('Margaret')
  await elsewhere.page.getByRole('button', { name: `Accept and sign in with ${host}` }).click()
  await elsewhere.page.getByRole('button', { name: /^Join / }).click()

  await elsewhere.page.getByRole('button', { name: /Margaret Hamilton/ }).waitFor()
  await elsewhere.page.getByRole('button', { name: /Switch account/ }).waitFor()
})

test('warns that an invitation replaces credentials that nobody verified', async () => {
  const { email, page, open } = await dashboard.signedIn()
  await dashboard.server.deps.db
    .updateTable('owners')
    .set({ emailVerified: false })
    .where('email', '=', email)
    .execute()
  await open(await invite(email))
  await page.getByText('Your email address was not verified yet').waitFor()
  await page.getByLabel('Your name').fill('Ada Byron')
  await page.getByRole('button', { name: 'Use a password instead' }).click()
  await page.getByLabel('Password', { exact: true }).fill('another horse battery staple')
  await page.getByRole('button', { name: 'Accept and sign in', exact: true }).click()

  await page.getByRole('button', { name: /Ada Byron/ }).waitFor()
})

test('accepts an invitation with a password if an organisation is configured', async () => {
  const guest = await dashboard.visit()
  await guest.open(await invite('alan@example.com'))
  await guest.page.getByLabel('Your name').fill('Alan Turing')
  await guest.page.getByRole('button', { name: 'Use a password instead' }).click()
  await guest.page.getByLabel('Password', { exact: true }).fill(password)
  await guest.page.getByRole('button', { name: 'Accept and sign in', exact: true }).click()

  await guest.page.getByRole('button', { name: /Alan Turing/ }).waitFor()
})

test('offers only a new password on a password reset link', async () => {
  const { server } = dashboard
  const { account, email } = await dashboard.signedIn()
  const invitation = { email, role: 'owner', setsPassword: true } as const
  const { path } = await inviteUser(server.deps, account.accountId, invitation)
  const { page, open } = await dashboard.visit()
  await open(path.replace('/settings', ''))
  await page.getByLabel('New password', { exact: true }).fill('another horse battery staple')
  expect(await page.getByText(host).count()).toBe(0)

  await page.getByRole('button', { name: 'Set password and sign in' }).click()

  await page.getByRole('button', { name: /Ada Lovelace/ }).waitFor()
})

test('does not set up an authenticator app for a user without a password', async () => {
  const link = await invite('nopassword@example.com')
  provider.person = { email: 'nopassword@example.com', email_verified: true }
  const guest = await dashboard.visit()
  const { page } = guest
  await guest.open(link)
  await page.getByLabel('Your name').fill('Ada')
  await page.getByRole('button', { name: `Accept and sign in with ${host}` }).click()
  await page.getByRole('button', { name: /Ada/ }).waitFor()
  await guest.open('/profile')
  await page.getByText('To set one up, choose a password first.').waitFor()

  expect(await page.getByRole('button', { name: 'Set up' }).count()).toBe(0)
})

test('reports a missing invitation and allows another sign-in', async () => {
  const guest = await dashboard.visit()
  provider.person = { email: 'uninvited@example.com', email_verified: true }
  await guest.open('/profile')
  await signInWithOrganisation(guest)
  await guest.page.getByText('There is no invitation for the email address that your organisation reported.').waitFor()

  const { email } = await dashboard.signedIn()
  await guest.page.getByLabel('Email address').fill(email)
  await guest.page.getByLabel('Password', { exact: true }).fill(password)
  await guest.page.getByRole('button', { name: 'Sign in', exact: true }).click()

  await guest.page.getByRole('heading', { level: 1, name: 'Profile' }).waitFor()
})

test('reports an email address that the provider has not verified', async () => {
  const { email } = await dashboard.signedIn()
  provider.person = { email, email_verified: false }
  const guest = await dashboard.visit()
  await guest.open('/sign-in')
  await signInWithOrganisation(guest)

  await guest.page.getByText('Your email address is not verified.').waitFor()
})

test('returns to the sign-in page if the provider denies access', async () => {
  const guest = await dashboard.visit()
  await guest.open('/auth/oauth2/callback/oidc?error=access_denied&state=unknown')

  await guest.page.getByText('Your organisation denied access, or you cancelled the sign-in.').waitFor()
})

test('allows another attempt after going back from the provider', async () => {
  const guest = await dashboard.visit()
  const { page, open } = guest
  await page.route(`${provider.issuer}/**`, (route) => route.fulfill({ body: 'the sign-in of an organisation' }))
  await open('/sign-in')
  await signInWithOrganisation(guest)
  await page.getByText('the sign-in of an organisation').waitFor()

  await page.goBack()
  await signInWithOrganisation(guest)

  await page.getByText('the sign-in of an organisation').waitFor()
})

test('sign-in pages with an organisation are accessible', async () => {
  const { page, open } = await dashboard.visit()
  for (const [address, content] of [
    ['/sign-in?to=%2Fprofile&error=signup_disabled', page.getByRole('button', { name: `Sign in with ${host}` })],
    [await invite('accessible@example.com'), page.getByRole('button', { name: 'Use a password instead' })],
  ] as const) {
    await open(address)
    await content.waitFor()
    expect({ address, violations: await findViolationsInBothSchemes(page) }).toEqual({ address, violations: [] })
  }
  await page.getByRole('button', { name: 'Use a password instead' }).click()
  expect(await findViolationsInBothSchemes(page)).toEqual([])
})
