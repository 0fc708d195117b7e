import { beforeEach, expect, test } from 'vitest'
import { resetPassword } from '../../../src/users/change-member.ts'
import { inviteUser } from '../../../src/users/invitation.ts'
import { findViolationsInBothSchemes, password, useDashboard, type Visit } from './support.ts'

const dashboard = useDashboard()

beforeEach(async () => {
  // All users of a test share one IP address.
  await dashboard.server.database.db.deleteFrom('owner_sign_in_rates').execute()
})

async function fillSignIn({ page }: Visit, email: string, given: string): Promise<void> {
  await page.getByLabel('Email address').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(given)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

test('accepts an invitation once and opens the account', async () => {
  const { accountId } = await dashboard.server.account()
  const { path } = await inviteUser(dashboard.server.deps, accountId, { email: 'grace@example.com', role: 'owner' })
  const { page, open } = await dashboard.visit()
  await open(path.replace('/settings', ''))
  await page.getByText('grace@example.com').waitFor()
  await page.getByText('Owner: full access').waitFor()
  await page.getByLabel('Your name').fill('Grace Hopper')
  await page.getByLabel('Password', { exact: true }).fill('too short')
  await page.getByRole('button', { name: 'Accept and sign in' }).click()
  await page.getByText('Must have at least 12 characters.').waitFor()

  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Accept and sign in' }).click()

  await page.waitForURL(`**/settings/${accountId}/*`)
  await page.getByText('Grace Hopper').waitFor()

  await open(path.replace('/settings', ''))
  await page.getByRole('heading', { name: 'This link is no longer valid' }).waitFor()
})

test('sets a new password with a reset link', async () => {
  const owner = await dashboard.signedIn()
  const { path } = await resetPassword(dashboard.server.deps, owner.account.accountId, owner.email)
  const { page, open } = await dashboard.visit()
  await open(path.replace('/settings', ''))
  await page.getByRole('heading', { name: 'Set a new password' }).waitFor()
  expect(await page.getByLabel('Your name').count()).toBe(0)

  await page.getByLabel('New password', { exact: true }).fill('a new password, which is long')
  await page.getByRole('button', { name: 'Set password and sign in' }).click()

  await page.waitForURL(`**/settings/${owner.account.accountId}/*`)
  await page.getByText('Ada Lovelace').waitFor()
  await owner.open('/profile')
  await owner.page.getByRole('heading', { name: 'Sign in' }).waitFor()
})

test('opens the requested page after sign-in', async () => {
  const owner = await dashboard.signedIn()
  const guest = await dashboard.visit()
  await guest.open(`/${owner.account.accountId}/audit-log`)
  await fillSignIn(guest, owner.email, 'not the password')
  await guest.page.getByText('Incorrect email address or password.').waitFor()

  await fillSignIn(guest, owner.email, password)

  await guest.page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor()
})

test('opens the requested part of a page after sign-in', async () => {
  const owner = await dashboard.signedIn()
  const guest = await dashboard.visit()
  await guest.open(`/${owner.account.accountId}/public-api?from=a*b#allow-list`)
  await fillSignIn(guest, owner.email, password)

  await guest.page.getByRole('heading', { level: 1, name: 'Public API' }).waitFor()
  const { search, hash } = new URL(guest.page.url())
  expect({ search, hash }).toEqual({ search: '?from=a*b', hash: '#allow-list' })
})

test('does not redirect to another site after sign-in', async () => {
  const owner = await dashboard.signedIn()
  const guest = await dashboard.visit()
  await guest.open('/sign-in?to=//example.com/')
  await fillSignIn(guest, owner.email, password)

  await guest.page.getByRole('navigation', { name: 'Pages' }).waitFor()
})

test('reports too many sign-in attempts', async () => {
  const guest = await dashboard.visit()
  await guest.open('/sign-in')
  for (let tries = 1; tries <= 10; tries += 1) {
    const answered = guest.page.waitForResponse('**/sign-in/email')
    await fillSignIn(guest, 'nobody@example.com', 'not the password')
    await answered
  }
  await fillSignIn(guest, 'nobody@example.com', 'not the password')

  await guest.page.getByText(/^Too many attempts\. Try again in \d+ seconds?\.$/).waitFor()
})

test('ends the session on sign-out', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await openOfAccount('audit-log')
  await page.getByRole('button', { name: /User menu/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()

  await openOfAccount('audit-log')

  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
})

test('ends all other sessions when the password changes', async () => {
  const { page, open, email } = await dashboard.signedIn()
  const elsewhere = await dashboard.visit()
  await elsewhere.open('/sign-in')
  await fillSignIn(elsewhere, email, password)
  await elsewhere.page.getByRole('navigation', { name: 'Pages' }).waitFor()
  await open('/profile')
  await page.getByText(email).waitFor()
  await page.getByLabel('Current password').fill('not the password')
  await page.getByLabel('New password').fill('another horse battery staple')
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.getByText('Incorrect password.').waitFor()

  await page.getByLabel('Current password').fill(password)
  await page.getByRole('button', { name: 'Change password' }).click()

  await page.getByText('Password changed.').waitFor()
  await elsewhere.page.reload()
  await elsewhere.page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'Profile' }).waitFor()
})

test('pages without an account are accessible', async () => {
  const { page, open, account } = await dashboard.signedIn()
  const { path } = await inviteUser(dashboard.server.deps, account.accountId, {
    email: 'accessible@example.com',
    role: 'viewer',
  })
  for (const [address, content] of [
    ['/sign-in?to=%2Fprofile', page.getByLabel('Email address')],
    [path.replace('/settings', ''), page.getByText('Expires')],
    ['/invitation/spent', page.getByText('This link is no longer valid')],
    ['/profile', page.getByLabel('New password')],
  ] as const) {
    await open(address)
    await content.waitFor()
    const submit = page.locator('button[type=submit]')
    if ((await submit.count()) > 0) await submit.click()
    expect({ address, violations: await findViolationsInBothSchemes(page) }).toEqual({ address, violations: [] })
  }
})
