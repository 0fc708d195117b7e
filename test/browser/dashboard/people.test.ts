import { afterEach, beforeEach, expect, test } from 'vitest'
import { inviteUser } from '../../../src/users/invitation.ts'
import { Mailer } from '../../../src/platform/email/mailer.ts'
import { createMailTransport } from '../../../src/platform/email/transport.ts'
import { signedInOwner } from '../../support/user.ts'
import { startSmtpServer } from '../../support/smtp.ts'
import { findViolationsInBothSchemes, joinAccount, password, startDashboard } from './support.ts'
import { forFile } from '../../support/lifetime.ts'
import { eventually } from '../../support/eventually.ts'

const smtp = await forFile(startSmtpServer())
const mail = createMailTransport(smtp.config)
const dashboard = await forFile(startDashboard({ deps: { mail } }))
const mailer = await forFile(new Mailer(dashboard.server.deps, mail))
mailer.start()
const { publicUrl } = dashboard.server.deps

beforeEach(async () => {
  // All users of a test share one IP address.
  await dashboard.server.database.db.deleteFrom('owner_sign_in_rates').execute()
})

afterEach(() => {
  Object.assign(dashboard.server.deps, { mail: createMailTransport(smtp.config), publicUrl })
})

/** The path of the link in the last email to an address, without `/settings`. */
function linkTo(address: string): Promise<string> {
  return eventually(() => {
    const link = smtp.received.findLast(({ to }) => to.includes(address))?.link
    if (link === undefined) throw new Error(`no email to ${address}`)
    return new URL(link).pathname.replace('/settings', '')
  })
}

test('invites a person by email, who joins, becomes an owner and is removed', async () => {
  const owner = await dashboard.signedIn()
  const { page } = owner
  await owner.openOfAccount('people')
  await page.getByRole('button', { name: 'Invite' }).click()
  await page.getByLabel('Email address').fill('grace@example.com')
  await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click()
  await page.getByText('The link is on its way to grace@example.com.').waitFor()
  await page.getByRole('button', { name: 'Done' }).click()
  const replaced = await linkTo('grace@example.com')
  await page.getByRole('button', { name: 'Send again to grace@example.com' }).click()
  await page.getByText('A new link is on its way to grace@example.com. The previous one no longer works.').waitFor()

  const guest = await dashboard.visit()
  await guest.open(replaced)
  await guest.page.getByRole('heading', { name: 'This link is no longer valid' }).waitFor()
  await expect.poll(() => linkTo('grace@example.com')).not.toBe(replaced)
  await guest.open(await linkTo('grace@example.com'))
  await guest.page.getByLabel('Your name').fill('Grace Hopper')
  await guest.page.getByLabel('Password', { exact: true }).fill(password)
  await guest.page.getByRole('button', { name: 'Accept and sign in' }).click()
  await guest.page.waitForURL(`**/settings/${owner.account.accountId}/*`)
  await guest.open(`/${owner.account.accountId}/people`)
  await guest.page.getByText('Ada Lovelace').waitFor()
  expect(await guest.page.getByRole('button', { name: /Remove/ }).count()).toBe(0)

  // The page of the owner has refreshed.
  await page.getByText('No invitations are pending.').waitFor()
  await page.getByText('Grace Hopper').waitFor()
  // The only owner can be neither removed nor made a viewer.
  await page.getByText('Only owner').waitFor()
  await page.getByLabel('Role of grace@example.com').selectOption('owner')
  await page.getByText('Grace Hopper is now an owner.').waitFor()
  await page.getByRole('button', { name: 'Leave' }).waitFor()
  await page.getByRole('button', { name: 'Remove grace@example.com' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByText('Grace Hopper was removed.').waitFor()

  await guest.open(`/${owner.account.accountId}/people`)
  await guest.page.getByRole('heading', { name: 'Sign in' }).waitFor()
})

test('shows another account after a user left one', async () => {
  const { server } = dashboard
  const { page, context, account, email, openOfAccount } = await dashboard.signedIn()
  await signedInOwner(server, account.accountId)
  const { accountId } = await server.account()
  await joinAccount(server, context, { accountId, email })
  await openOfAccount('people')
  await page.getByRole('button', { name: 'Leave' }).click()

  await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click()

  await page.getByText(/^You left /).waitFor()
  await page.waitForURL(`**/settings/${accountId}/overview`)
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
})

test('shows a link to share without an SMTP server, and revokes it', async () => {
  dashboard.server.deps.mail = undefined
  const owner = await dashboard.signedIn()
  const { page } = owner
  await owner.openOfAccount('people')
  await page.getByRole('button', { name: 'Invite' }).click()
  await page.getByLabel('Email address').fill('not an address')
  await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click()
  await page.getByText(/Must be an email address/).waitFor()
  await page.getByLabel('Email address').fill('linus@example.com')
  await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click()

  const first = await page.getByLabel('Invitation link', { exact: true }).inputValue()
  const warning = page.getByText('This link works only on the computer that runs this server.')
  expect(await warning.count()).toBe(0)
  await page.getByRole('button', { name: 'Done' }).click()
  dashboard.server.deps.publicUrl = 'http://127.0.0.1:3000'
  await page.getByRole('button', { name: 'New link for linus@example.com' }).click()
  const dialog = page.getByRole('dialog', { name: 'New invitation link' })
  const link = await dialog.getByLabel('Invitation link', { exact: true }).inputValue()
  expect(link).not.toBe(first)
  // A click outside does not discard it.
  await page.mouse.click(5, 5)
  await warning.waitFor()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Revoke the invitation of linus@example.com' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('No invitations are pending.').waitFor()

  const guest = await dashboard.visit()
  await guest.open(new URL(link).pathname.replace('/settings', ''))
  await guest.page.getByRole('heading', { name: 'This link is no longer valid' }).waitFor()
})

test('accepts an invitation with one click in a session of the invited address only', async () => {
  const { server } = dashboard
  const [ada, other] = [await dashboard.signedIn(), await dashboard.signedIn()]
  const { accountId } = await server.account()
  const { path } = await inviteUser(server.deps, accountId, { email: ada.email, role: 'viewer' })
  const link = path.replace('/settings', '')

  await other.open(link)
  await other.page.getByText(`You are signed in as ${other.email}`).waitFor()
  await other.page.getByRole('button', { name: 'Sign out' }).click()
  await other.page.getByRole('button', { name: 'Accept and sign in' }).waitFor()

  await ada.open(link)
  await ada.page.getByRole('button', { name: 'Join Test' }).click()

  await ada.page.waitForURL(`**/settings/${accountId}/*`)
  await ada.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
})

test('resets a forgotten password by email', async () => {
  const owner = await dashboard.signedIn()
  const guest = await dashboard.visit()
  const { page } = guest
  await guest.open('/sign-in')
  await page.getByRole('link', { name: 'Forgot password?' }).click()
  // The sign-in page has a field with the same name.
  await page.getByRole('button', { name: 'Send link' }).waitFor()
  await page.getByLabel('Email address').fill(owner.email)
  await page.getByRole('button', { name: 'Send link' }).click()
  await page.getByText(/an email with a link is on its way/).waitFor()

  const link = await linkTo(owner.email)
  await guest.open(link)
  await page.getByLabel('New password', { exact: true }).fill('short')
  await page.getByRole('button', { name: 'Set password and sign in' }).click()
  await page.getByText('Must have at least 12 characters.').waitFor()
  await page.getByLabel('New password', { exact: true }).fill('a new password, which is long')
  await page.getByRole('button', { name: 'Set password and sign in' }).click()

  await page.waitForURL(`**/settings/${owner.account.accountId}/*`)
  await owner.open('/profile')
  await owner.page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await owner.open(link)
  await owner.page.getByLabel('New password', { exact: true }).fill('another password, also long')
  await owner.page.getByRole('button', { name: 'Set password and sign in' }).click()
  await owner.page.getByText(/already used or has expired/).waitFor()
})

test('explains whom to ask for a new password without an SMTP server', async () => {
  dashboard.server.deps.mail = undefined
  const { page, open } = await dashboard.visit()
  await open('/forgot-password')

  await page.getByText(/Ask the people who run it/).waitFor()
  expect(await page.getByLabel('Email address').count()).toBe(0)
})

test('ends other sessions in the profile', async () => {
  const owner = await dashboard.signedIn()
  const [phone, laptop] = [await dashboard.visit(), await dashboard.visit()]
  for (const visit of [phone, laptop]) {
    await visit.open('/sign-in')
    await visit.page.getByLabel('Email address').fill(owner.email)
    await visit.page.getByLabel('Password', { exact: true }).fill(password)
    await visit.page.getByRole('button', { name: 'Sign in' }).click()
    await visit.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  }
  const { page } = owner
  await owner.open('/profile')
  await page.getByText('This session').waitFor()
  await page
    .getByRole('button', { name: /^End the session of Chrome on Linux/ })
    .first()
    .click()
  await page.getByText('Session ended.').waitFor()
  await page.getByRole('button', { name: 'End all other sessions' }).click()
  await page.getByText('All other sessions have ended.').waitFor()
  await page.getByRole('button', { name: 'End all other sessions' }).waitFor({ state: 'detached' })

  for (const visit of [phone, laptop]) {
    await visit.open('/profile')
    await visit.page.getByRole('heading', { name: 'Sign in' }).waitFor()
  }
})

test.each([
  { width: 1280, height: 900 },
  { width: 360, height: 780 },
])('is accessible and fits the screen at $width px', async (viewport) => {
  const owner = await dashboard.signedIn({ viewport })
  await signedInOwner(dashboard.server, owner.account.accountId, { role: 'viewer' })
  await inviteUser(dashboard.server.deps, owner.account.accountId, {
    email: 'a-rather-long-name@subsidiary.example.com',
    role: 'viewer',
  })
  const { page } = owner
  for (const [path, text] of [
    [`/${owner.account.accountId}/people`, 'Pending invitations'],
    ['/profile', 'This session'],
    ['/forgot-password', 'Send link'],
    ['/reset-password/none', 'Set password and sign in'],
  ] as const) {
    await owner.open(path)
    await page.getByText(text).first().waitFor()
    expect(await findViolationsInBothSchemes(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true)
  }
})
