import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { changes } from '../../../contracts/facts/changes.ts'
import { appendAuditEntry } from '../../../src/users/audit/append.ts'
import { inviteUser } from '../../../src/users/invitation.ts'
import { findAccessibilityViolations, findViolationsInBothSchemes, password, useDashboard } from './support.ts'

const dashboard = useDashboard()

test('opens the account of a signed-in user and navigates between pages', async () => {
  const { page, open, account } = await dashboard.signedIn()
  await open('')
  await page.getByRole('heading', { level: 1 }).waitFor()
  expect(page.url()).toContain(`/settings/${account.accountId}/`)

  await page.getByRole('link', { name: 'Audit log' }).click()

  const heading = page.getByRole('heading', { level: 1, name: 'Audit log' })
  await heading.waitFor()
  expect(await page.title()).toBe('Audit log · Waybill')
  expect(await heading.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true)
})

test('names the number of a WhatsApp account in the audit log', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  const { accountId, whatsAppAccountId } = account
  const { deps } = dashboard.server
  await deps.db
    .updateTable('whatsapp_accounts')
    .set({ display_phone_number: '34600111000' })
    .where('id', '=', whatsAppAccountId)
    .execute()
  const what = changes.makeDefault({ whatsAppAccountId })
  const entry = { accountId, id: deps.newId('aud'), who: 'operator', what, address: 'command line' }
  await appendAuditEntry(deps, { ...entry, outcome: 'done' })

  await openOfAccount('audit-log')

  await page.getByText(`Made ${whatsAppAccountId} (+34600111000) the default`).first().waitFor()
})

test.each([{ width: 1280 }, { width: 390 }])(
  'shows a page that is opened from its top, and on the way back where it was left, at $width px',
  async ({ width }) => {
    const { page, openOfAccount } = await dashboard.signedIn({ viewport: { width, height: 500 } })
    const scrolled = () => page.evaluate<number>('Math.round(scrollY)')
    await openOfAccount('people')
    await page.getByRole('heading', { level: 1, name: 'People' }).waitFor()
    await openFromMenu(page, 'Public API')
    await page.getByRole('heading', { level: 1, name: 'Public API' }).waitFor()
    await page.getByRole('heading', { name: 'IP allow-list' }).waitFor()
    await page.evaluate('scrollTo(0, 400)')
    await expect.poll(scrolled).toBe(400)

    await openFromMenu(page, 'Suppressions')
    await page.getByRole('heading', { level: 1, name: 'Suppressions' }).waitFor()
    expect(await scrolled()).toBe(0)

    await page.goBack()
    await page.getByRole('heading', { level: 1, name: 'Public API' }).waitFor()
    expect(await scrolled()).toBe(400)
  },
)

test('skips the navigation with the first tab stop', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await openOfAccount('public-api')
  await page.getByRole('heading', { level: 1 }).waitFor()

  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')

  expect(await page.evaluate('document.activeElement.id')).toBe('main')
})

test('keeps the selected colour scheme', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await openOfAccount('public-api')
  await page.getByRole('button', { name: /User menu/ }).click()
  await page.getByRole('menuitem', { name: 'Dark' }).click()
  await page.reload()

  expect(await page.evaluate('document.documentElement.dataset.mantineColorScheme')).toBe('dark')
})

test('hides the navigation behind a button on a phone', async () => {
  const { page, openOfAccount } = await dashboard.signedIn({ viewport: { width: 390, height: 844 } })
  await openOfAccount('public-api')
  const link = page.getByRole('link', { name: 'Webhooks' })
  await page.getByRole('heading', { level: 1 }).waitFor()
  expect(await link.isVisible()).toBe(false)
  await page.getByRole('button', { name: 'Open navigation' }).click()
  await link.click()

  await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
  await page.getByRole('button', { name: 'Open navigation' }).waitFor()
})

test('switches between accounts and stays on the same page', async () => {
  const { page, context, openOfAccount, email } = await dashboard.signedIn()
  const { server } = dashboard
  const other = await server.account()
  await server.deps.db.updateTable('accounts').set({ name: 'Other' }).where('id', '=', other.accountId).execute()
  const { path } = await inviteUser(server.deps, other.accountId, { email, role: 'viewer' })
  const token = path.split('/').at(-1)
  const accepted = await context.request.post(`${server.url}/settings/trpc/settings.invitation.accept`, {
    headers: { origin: server.url },
    data: { token, name: 'Ada Lovelace', password },
  })
  expect(accepted.status()).toBe(200)
  await openOfAccount('audit-log')

  await page.getByRole('button', { name: 'Account: Test. Switch account' }).click()
  await page.getByRole('menuitem', { name: 'Other' }).click()

  await page.getByRole('button', { name: 'Account: Other. Switch account' }).waitFor()
  expect(new URL(page.url()).pathname).toBe(`/settings/${other.accountId}/audit-log`)
  expect(await findAccessibilityViolations(page)).toEqual([])
})

test('shows a message to a user without accounts', async () => {
  const { page, open, account } = await dashboard.signedIn()
  await dashboard.server.deps.db.deleteFrom('owner_roles').where('account_id', '=', account.accountId).execute()
  await open('/')

  await page.getByText('No accounts').waitFor()
})

test('shows an account of another user as not found', async () => {
  const { page, open } = await dashboard.signedIn()
  await open('/acc_of_somebody_else/messages')

  await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor()
})

test('the layout is accessible', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await openOfAccount('public-api')
  await page.getByRole('heading', { level: 1 }).waitFor()

  expect(await findViolationsInBothSchemes(page)).toEqual([])
  await page.getByRole('button', { name: /User menu/ }).click()
  await page.getByRole('menuitem', { name: 'Profile' }).waitFor()
  expect(await findViolationsInBothSchemes(page)).toEqual([])
})

/** On a phone, the menu opens first. */
async function openFromMenu(page: Page, name: string): Promise<void> {
  const menu = page.getByRole('button', { name: 'Open navigation' })
  if (await menu.isVisible()) await menu.click()
  await page.getByRole('navigation').getByRole('link', { name }).click()
}
