import { expect, test } from 'vitest'
import { createUserAuth } from '../../../src/users/sign-in/better-auth.ts'
import { findAccessibilityViolations, useDashboard } from './support.ts'

const sandbox = useDashboard()
const production = useDashboard({ server: { sandbox: false } })

const template = 'templates?name=order_shipped&language=en'

test.each([
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 390 },
] as const)('labels every page of the sandbox in $colorScheme at $width px', async ({ colorScheme, width }) => {
  const { page, open, openOfAccount } = await sandbox.signedIn({ colorScheme, viewport: { width, height: 800 } })
  for (const path of ['overview', 'messages', 'webhooks', 'templates', 'public-api', 'audit-log']) {
    await openOfAccount(path)
    await page.getByRole('note', { name: 'Sandbox' }).getByText('WhatsApp is simulated').waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBe(0)
  }
  await open('/profile')
  await page.getByRole('note', { name: 'Sandbox' }).waitFor()
  await page.getByRole('heading', { level: 1 }).waitFor()
  expect(await findAccessibilityViolations(page)).toEqual([])
})

test('explains that a test message in the sandbox costs nothing, and simulates an outcome', async () => {
  const { page, openOfAccount } = await sandbox.signedIn()
  await openOfAccount(template)
  await page.getByText('WhatsApp is simulated here: the message reaches no phone and costs nothing.').waitFor()
  expect(await page.getByText('real message').count()).toBe(0)

  const outcome = page.getByRole('combobox', { name: 'Simulate an outcome' })
  const search = outcome.or(page.getByRole('textbox', { name: 'Simulate an outcome' }))
  await search.click()
  const groups = ['Not sent: the recipient', 'Not sent: too many messages', 'WhatsApp writes the number differently']
  for (const group of groups) await page.getByRole('group', { name: group }).or(page.getByText(group)).first().waitFor()
  expect(await page.getByRole('option', { name: /ES\./ }).count()).toBe(0)
  await search.fill('opted out')
  await page.getByRole('option', { name: /15550131050/ }).click()
  expect(await page.getByLabel('Your phone number').inputValue()).toBe('15550131050')
  await page.getByRole('button', { name: 'Send test' }).click()

  await page.getByRole('link', { name: 'View message' }).click()
  await page.getByText(/error 131050/).waitFor()
  await page.getByText('Simulated outcome', { exact: true }).waitFor()
  await openOfAccount('messages')
  const row = page.getByRole('row', { name: /15550131050/ })
  await row.getByText('Simulated outcome', { exact: true }).waitFor()
  expect(await findAccessibilityViolations(page)).toEqual([])
})

test('warns on a production server that a test message is real, and simulates nothing', async () => {
  const { page, openOfAccount } = await production.signedIn()
  await openOfAccount(template)
  await page.getByText('Sends a real message from your WhatsApp number. WhatsApp may charge for it.').waitFor()
  expect(await page.getByRole('note', { name: 'Sandbox' }).count()).toBe(0)
  expect(await page.getByText('Simulate an outcome').count()).toBe(0)
})

test('says how a user who signed in by a link gets a password', async () => {
  const { page, open, account, email } = await sandbox.signedIn()
  const { db } = sandbox.server.deps
  const ofUser = db.selectFrom('owners').select('id').where('email', '=', email)
  await db.deleteFrom('owner_credentials').where('userId', '=', ofUser).execute()

  await open('/profile')

  const command = `waybill owner reset-password ${account.accountId} --email ${email}`
  expect(await page.getByRole('textbox', { name: 'Choose a password' }).inputValue()).toBe(command)
  await page.getByText('To set one up, choose a password first.').waitFor()
  expect(await page.getByLabel('Current password').count()).toBe(0)
  expect(await page.getByRole('button', { name: 'Set up' }).count()).toBe(0)
})

test('says that a sign-in link was already used, and how to get another', async () => {
  const { page, context, email } = await sandbox.signedIn()
  const { deps, url } = sandbox.server
  const userAuth = createUserAuth(deps, { publicUrl: url, oidc: undefined, signInLinks: true })
  const path = await userAuth.createSignInLink(email)
  await context.clearCookies()
  await page.goto(url + path)
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await context.clearCookies()

  await page.goto(url + path)

  await page.getByText('This link does not work').waitFor()
  await page.getByText(/already used or has expired. Stop the sandbox .* npm start again/).waitFor()
  expect(await page.getByText('Sign in to view this page.').count()).toBe(0)
})
