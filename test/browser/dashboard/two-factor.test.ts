import { readFile } from 'node:fs/promises'
import { sql } from 'kysely'
import type { Page, Route } from 'playwright-core'
import { beforeEach, expect, test } from 'vitest'
import { inviteUser } from '../../../src/users/invitation.ts'
import { totp } from '../../support/user.ts'
import { findViolationsInBothSchemes, password, type SignedInVisit, useDashboard } from './support.ts'

const dashboard = useDashboard()

beforeEach(resetRateLimits)

/** All users of a test share one IP address. */
async function resetRateLimits(): Promise<void> {
  await dashboard.server.database.db.deleteFrom('owner_sign_in_rates').execute()
}

const authenticator = (page: Page) => page.getByRole('region', { name: 'Authenticator app' })

/** Goes from the profile page to the QR code. */
async function beginSetUp({ page, open }: SignedInVisit): Promise<{ secret: string }> {
  await open('/profile')
  await authenticator(page).getByRole('button', { name: 'Set up' }).click()
  await page.getByLabel('Your password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor()
  await page.getByRole('button', { name: 'Copy key' }).click()
  const secret = await page.getByRole('group', { name: 'Or enter this key' }).textContent()
  return { secret: (secret ?? '').replaceAll(' ', '') }
}

/** Goes on to the backup codes. */
async function setUp(visit: SignedInVisit): Promise<{ secret: string; backupCodes: string[] }> {
  const { secret } = await beginSetUp(visit)
  await visit.page.getByLabel('Code from the app').fill(totp(secret))
  await visit.page.getByRole('button', { name: 'Turn on' }).click()
  const codes = visit.page.getByRole('list', { name: 'Backup codes' }).getByRole('listitem')
  await codes.first().waitFor()
  await resetRateLimits()
  return { secret, backupCodes: await codes.allTextContents() }
}

/** Signs in up to the code step. */
async function signInWithPassword({ page, open }: Pick<SignedInVisit, 'page' | 'open'>, email: string): Promise<void> {
  await open('/sign-in?to=%2Fprofile')
  await page.getByLabel('Email address').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('heading', { name: 'Enter your code' }).waitFor()
}

test('asks for a code at sign-in after setup', async () => {
  const visit = await dashboard.signedIn()
  const { page, email } = visit
  const { secret, backupCodes } = await setUp(visit)
  expect(new Set(backupCodes).size).toBe(10)
  await page.getByRole('button', { name: 'I have saved them' }).click()
  await authenticator(page).getByText('Sign-in requires your password and a code.').waitFor()
  expect(await page.content()).not.toContain(backupCodes[0])
  await page.getByRole('button', { name: /User menu/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()

  await signInWithPassword(visit, email)
  await page.getByLabel('Six-digit code').fill(totp(secret, 1).replace(/^.../, '$& '))
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()

  await page.getByRole('heading', { level: 1, name: 'Profile' }).waitFor()
})

test('keeps the backup codes when a request under way is answered for the session before', async () => {
  const visit = await dashboard.signedIn()
  const { page } = visit
  const begun = Promise.withResolvers<Route>()
  await page.route('**/settings.alert.list?*', (route) => begun.resolve(route), { times: 1 })
  const { backupCodes } = await setUp(visit)
  const held = await begun.promise
  const unauthorized = await fetch(held.request().url())
  expect(unauthorized.status).toBe(401)
  const repeated = page.waitForResponse((response) => response.ok() && response.url() === held.request().url())

  await held.fulfill({ status: 401, contentType: 'application/json', body: await unauthorized.text() })

  await repeated
  expect(await page.getByRole('list', { name: 'Backup codes' }).getByRole('listitem').allTextContents()).toEqual(
    backupCodes,
  )
})

test('copies the key and downloads the backup codes', async () => {
  const visit = await dashboard.signedIn()
  const { page } = visit
  const { secret, backupCodes } = await setUp(visit)
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret)
  // It says so for two seconds.
  const copied = page.getByRole('button', { name: 'Copied' }).waitFor()
  await page.getByRole('button', { name: 'Copy codes' }).click()
  await copied
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(backupCodes.join('\n'))

  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download as text file' }).click()

  const download = await downloading
  expect(download.suggestedFilename()).toBe('waybill-backup-codes.txt')
  expect(await readFile(await download.path(), 'utf8')).toContain(backupCodes.join('\n'))
})

test('signs in once with a backup code', async () => {
  const owner = await dashboard.signedIn()
  const { backupCodes } = await setUp(owner)
  const [code = ''] = backupCodes
  const guest = await dashboard.visit()
  await signInWithPassword(guest, owner.email)
  await guest.page.getByRole('button', { name: 'Use a backup code instead' }).click()
  await guest.page.getByLabel('Backup code').fill(code)
  await guest.page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await guest.page.getByRole('heading', { level: 1, name: 'Profile' }).waitFor()

  const other = await dashboard.visit()
  await signInWithPassword(other, owner.email)
  await other.page.getByRole('button', { name: 'Use a backup code instead' }).click()
  await other.page.getByLabel('Backup code').fill(code)
  await other.page.getByRole('button', { name: 'Sign in', exact: true }).click()

  await other.page.getByText('This backup code is incorrect or was already used.').waitFor()
})

test('asks for a code when an invitation is accepted', async () => {
  const owner = await dashboard.signedIn()
  const { secret } = await setUp(owner)
  const { server } = dashboard
  const { accountId } = await server.account()
  const { path } = await inviteUser(server.deps, accountId, { email: owner.email, role: 'viewer' })
  const { page, open } = await dashboard.visit()
  await open(path.replace('/settings', ''))
  await page.getByLabel('Your name').fill('Ada Lovelace')
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Accept and sign in' }).click()

  await page.getByLabel('Six-digit code').fill(totp(secret, 1))
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()

  await page.getByRole('button', { name: /Switch account/ }).waitFor()
  expect(new URL(page.url()).pathname).toContain(`/settings/${accountId}`)
})

test('requires a session with a code to turn off the app', async () => {
  const visit = await dashboard.signedIn()
  const { page } = visit
  await setUp(visit)
  await page.getByRole('button', { name: 'I have saved them' }).click()
  // As after a sign-in with an organisation.
  await dashboard.server.database.db.updateTable('owner_sessions').set({ secondFactor: false }).execute()
  await authenticator(page).getByRole('button', { name: 'Turn off' }).click()
  await page.getByLabel('Your password', { exact: true }).fill(password)
  await page.getByRole('dialog').getByRole('button', { name: 'Turn off' }).click()

  await page.getByText('Sign in again with your password and a code of your authenticator app first.').waitFor()
})

test('reports a wrong code and too many attempts', async () => {
  const owner = await dashboard.signedIn()
  const { secret } = await setUp(owner)
  const { page, ...guest } = await dashboard.visit()
  await signInWithPassword({ page, ...guest }, owner.email)
  const field = page.getByLabel('Six-digit code')
  await field.fill('12345')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByText('Enter the six-digit code from the app.').waitFor()
  await field.fill(wrongCode(secret))
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByText('Incorrect code.').waitFor()
  // As if others of this network had used up its attempts.
  await sql`update owner_sign_in_rates set count = 100, "lastRequest" = ${Date.now()}`.execute(dashboard.server.deps.db)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByText(/^Too many attempts\. Try again in \d+ seconds?\.$/).waitFor()
  await resetRateLimits()

  await field.fill(totp(secret, 1))
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()

  await page.getByRole('heading', { level: 1, name: 'Profile' }).waitFor()
})

test('restarts a sign-in that expired before the code', async () => {
  const owner = await dashboard.signedIn()
  const { secret } = await setUp(owner)
  const { page, context, ...guest } = await dashboard.visit()
  await signInWithPassword({ page, ...guest }, owner.email)
  // The browser drops the cookie after ten minutes.
  await context.clearCookies()

  await page.getByLabel('Six-digit code').fill(totp(secret, 1))
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()

  await page.getByText('Your sign-in expired after ten minutes.').waitFor()
  await page.getByLabel('Email address').waitFor()
})

test('turns the app on only after a correct code', async () => {
  const visit = await dashboard.signedIn()
  const { page, open } = visit
  const { secret } = await beginSetUp(visit)
  await page.getByLabel('Code from the app').fill(wrongCode(secret))
  await page.getByRole('button', { name: 'Turn on' }).click()
  await page.getByText('Incorrect code.').waitFor()

  await page.getByRole('button', { name: 'Cancel' }).click()
  await open('/profile')

  await authenticator(page).getByText('Sign-in requires only your password.').waitFor()
})

test('requires the password to set up and to turn off the app', async () => {
  const visit = await dashboard.signedIn()
  const { page, open } = visit
  await open('/profile')
  await authenticator(page).getByRole('button', { name: 'Set up' }).click()
  await page.getByLabel('Your password', { exact: true }).fill('not the password')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('Incorrect password.').waitFor()
  await setUp(visit)
  await page.getByRole('button', { name: 'I have saved them' }).click()
  await authenticator(page).getByRole('button', { name: 'Turn off' }).click()
  const dialog = page.getByRole('dialog', { name: 'Turn off your authenticator app?' })
  await dialog.getByLabel('Your password', { exact: true }).fill('not the password')
  await dialog.getByRole('button', { name: 'Turn off' }).click()
  await dialog.getByText('Incorrect password.').waitFor()

  await dialog.getByLabel('Your password', { exact: true }).fill(password)
  await dialog.getByRole('button', { name: 'Turn off' }).click()

  await authenticator(page).getByText('Sign-in requires only your password.').waitFor()
})

test('all steps are accessible', async () => {
  const visit = await dashboard.signedIn()
  const { page, open, email } = visit
  const expectAccessible = async (step: string) =>
    expect({ step, violations: await findViolationsInBothSchemes(page) }).toEqual({ step, violations: [] })
  await open('/profile')
  await authenticator(page).getByRole('button', { name: 'Set up' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await expectAccessible('password')
  const { secret } = await beginSetUp(visit)
  await page.getByRole('button', { name: 'Turn on' }).click()
  await expectAccessible('QR code')
  await page.getByLabel('Code from the app').fill(totp(secret))
  await page.getByRole('button', { name: 'Turn on' }).click()
  await page.getByRole('list', { name: 'Backup codes' }).waitFor()
  await expectAccessible('backup codes')
  await page.getByRole('button', { name: 'I have saved them' }).click()
  await authenticator(page).getByRole('button', { name: 'Turn off' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Turn off' }).click()
  await expectAccessible('turning off')
  await signInWithPassword(visit, email)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await expectAccessible('code at sign-in')
  await page.getByRole('button', { name: 'Use a backup code instead' }).click()
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await expectAccessible('backup code at sign-in')
})

/** Differs from the current code and its neighbours, which are valid too. */
function wrongCode(secret: string): string {
  return String((Number(totp(secret)) + 500_000) % 1_000_000).padStart(6, '0')
}
