import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { inviteOwner } from '../../../src/users/invitation.ts'
import { totp } from '../../support/totp.ts'
import { type DashboardBrowser, findBarriers, password, type SignedInVisit, startDashboard } from './support.ts'

let dashboard: DashboardBrowser

beforeAll(async () => {
  dashboard = await startDashboard()
})

afterAll(async () => {
  await dashboard?.close()
})

beforeEach(forgetTries)

/** All people of a test come from one address. */
async function forgetTries(): Promise<void> {
  await dashboard.server.database.db.deleteFrom('owner_sign_in_rates').execute()
}

const authenticator = (page: Page) => page.getByRole('region', { name: 'Authenticator app' })

/** From the profile page until the QR code is there. */
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

/** Until the backup codes are there. */
async function setUp(visit: SignedInVisit): Promise<{ secret: string; backupCodes: string[] }> {
  const { secret } = await beginSetUp(visit)
  await visit.page.getByLabel('Code from the app').fill(totp(secret))
  await visit.page.getByRole('button', { name: 'Turn on' }).click()
  const codes = visit.page.getByRole('list', { name: 'Backup codes' }).getByRole('listitem')
  await codes.first().waitFor()
  await forgetTries()
  return { secret, backupCodes: await codes.allTextContents() }
}

/** Until the code is asked for. */
async function signInWithPassword({ page, open }: Pick<SignedInVisit, 'page' | 'open'>, email: string): Promise<void> {
  await open('/sign-in?to=%2Fprofile')
  await page.getByLabel('Email address').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('heading', { name: 'Enter your code' }).waitFor()
}

test('an app that is set up is asked for at sign-in', async () => {
  const visit = await dashboard.signedIn()
  const { page, email, complaints } = visit
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
  expect(complaints).toEqual([])
})

test('the key and the backup codes can be taken along', async () => {
  const visit = await dashboard.signedIn()
  const { page, complaints } = visit
  const { secret, backupCodes } = await setUp(visit)
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret)
  await page.getByRole('button', { name: 'Copy codes' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(backupCodes.join('\n'))

  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download as text file' }).click()

  const download = await downloading
  expect(download.suggestedFilename()).toBe('waybill-backup-codes.txt')
  expect(await readFile(await download.path(), 'utf8')).toContain(backupCodes.join('\n'))
  expect(complaints).toEqual([])
})

test('a backup code signs in without the app, once', async () => {
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
  expect([...guest.complaints, ...other.complaints]).toEqual([])
})

test('an invitation to another account asks for the code as well', async () => {
  const owner = await dashboard.signedIn()
  const { secret } = await setUp(owner)
  const { server } = dashboard
  const { accountId } = await server.account()
  const { path } = await inviteOwner(server.deps, accountId, { email: owner.email, role: 'viewer' })
  const { page, open, complaints } = await dashboard.visit()
  await open(path.replace('/settings', ''))
  await page.getByLabel('Your name').fill('Ada Lovelace')
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Accept and sign in' }).click()

  await page.getByLabel('Six-digit code').fill(totp(secret, 1))
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()

  await page.getByRole('button', { name: /Switch account/ }).waitFor()
  expect(new URL(page.url()).pathname).toContain(`/settings/${accountId}`)
  expect(complaints).toEqual([])
})

test('a wrong code is told at once, and too many of them when to try again', async () => {
  const owner = await dashboard.signedIn()
  const { secret } = await setUp(owner)
  const { page, ...guest } = await dashboard.visit()
  await signInWithPassword({ page, ...guest }, owner.email)
  const field = page.getByLabel('Six-digit code')
  await field.fill('12345')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByText('Enter the six-digit code from the app.').waitFor()
  for (let tries = 1; tries <= 3; tries += 1) {
    await field.fill(wrongCode(secret))
    const answered = page.waitForResponse('**/verify-totp')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await answered
    await page.getByText('Incorrect code.').waitFor()
  }
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByText(/^Too many attempts\. Try again in \d+ seconds?\.$/).waitFor()
  await forgetTries()

  await field.fill(totp(secret, 1))
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()

  await page.getByRole('heading', { level: 1, name: 'Profile' }).waitFor()
  expect(guest.complaints).toEqual([])
})

test('a sign-in that waits too long for its code begins again', async () => {
  const owner = await dashboard.signedIn()
  const { secret } = await setUp(owner)
  const { page, context, ...guest } = await dashboard.visit()
  await signInWithPassword({ page, ...guest }, owner.email)
  // As the browser does by itself, ten minutes later.
  await context.clearCookies()

  await page.getByLabel('Six-digit code').fill(totp(secret, 1))
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()

  await page.getByText('Your sign-in expired after ten minutes.').waitFor()
  await page.getByLabel('Email address').waitFor()
  expect(guest.complaints).toEqual([])
})

test('an app is on only once it has shown a code', async () => {
  const visit = await dashboard.signedIn()
  const { page, open, complaints } = visit
  const { secret } = await beginSetUp(visit)
  await page.getByLabel('Code from the app').fill(wrongCode(secret))
  await page.getByRole('button', { name: 'Turn on' }).click()
  await page.getByText('Incorrect code.').waitFor()

  await page.getByRole('button', { name: 'Cancel' }).click()
  await open('/profile')

  await authenticator(page).getByText('Sign-in requires only your password.').waitFor()
  expect(complaints).toEqual([])
})

test('neither setting it up nor turning it off goes without the password', async () => {
  const visit = await dashboard.signedIn()
  const { page, open, complaints } = visit
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
  expect(complaints).toEqual([])
})

test.each(['light', 'dark'] as const)('no step has barriers in %s', async (colorScheme) => {
  const visit = await dashboard.signedIn({ colorScheme })
  const { page, open, email, complaints } = visit
  const expectNoBarriers = async (step: string) =>
    expect({ step, barriers: await findBarriers(page) }).toEqual({ step, barriers: [] })
  await open('/profile')
  await authenticator(page).getByRole('button', { name: 'Set up' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await expectNoBarriers('password')
  const { secret } = await beginSetUp(visit)
  await page.getByRole('button', { name: 'Turn on' }).click()
  await expectNoBarriers('QR code')
  await page.getByLabel('Code from the app').fill(totp(secret))
  await page.getByRole('button', { name: 'Turn on' }).click()
  await page.getByRole('list', { name: 'Backup codes' }).waitFor()
  await expectNoBarriers('backup codes')
  await page.getByRole('button', { name: 'I have saved them' }).click()
  await authenticator(page).getByRole('button', { name: 'Turn off' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Turn off' }).click()
  await expectNoBarriers('turning off')
  await signInWithPassword(visit, email)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await expectNoBarriers('code at sign-in')
  await page.getByRole('button', { name: 'Use a backup code instead' }).click()
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await expectNoBarriers('backup code at sign-in')
  expect(complaints).toEqual([])
})

/** Neither this code nor one of its neighbours, which count as well. */
function wrongCode(secret: string): string {
  return String((Number(totp(secret)) + 500_000) % 1_000_000).padStart(6, '0')
}
