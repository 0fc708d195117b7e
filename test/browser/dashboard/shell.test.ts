import { afterAll, beforeAll, expect, test } from 'vitest'
import { inviteOwner } from '../../../src/users/invitation.ts'
import { type DashboardBrowser, findBarriers, password, startDashboard } from './support.ts'

let dashboard: DashboardBrowser

beforeAll(async () => {
  dashboard = await startDashboard()
})

afterAll(async () => {
  await dashboard?.close()
})

test('whoever is signed in lands in their account, and gets about by the navigation', async () => {
  const { page, open, complaints, account } = await dashboard.signedIn()
  await open('')
  await page.getByRole('heading', { level: 1 }).waitFor()
  expect(page.url()).toContain(`/settings/${account.accountId}/`)

  await page.getByRole('link', { name: 'Audit log' }).click()

  const heading = page.getByRole('heading', { level: 1, name: 'Audit log' })
  await heading.waitFor()
  expect(await page.title()).toBe('Audit log · Waybill')
  expect(await heading.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true)
  expect(complaints).toEqual([])
})

test('the first tab leads past the navigation', async () => {
  const { page, openOfAccount, complaints } = await dashboard.signedIn()
  await openOfAccount('public-api')
  await page.getByRole('heading', { level: 1 }).waitFor()

  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')

  expect(await page.evaluate('document.activeElement.id')).toBe('main')
  expect(complaints).toEqual([])
})

test('a chosen colour scheme stays', async () => {
  const { page, openOfAccount, complaints } = await dashboard.signedIn()
  await openOfAccount('public-api')
  await page.getByRole('button', { name: /User menu/ }).click()
  await page.getByRole('menuitem', { name: 'Dark' }).click()
  await page.reload()

  expect(await page.evaluate('document.documentElement.dataset.mantineColorScheme')).toBe('dark')
  expect(complaints).toEqual([])
})

test('on a phone the navigation is behind a button', async () => {
  const { page, openOfAccount, complaints } = await dashboard.signedIn({ viewport: { width: 390, height: 844 } })
  await openOfAccount('public-api')
  const link = page.getByRole('link', { name: 'Webhooks' })
  await page.getByRole('heading', { level: 1 }).waitFor()
  expect(await link.isVisible()).toBe(false)
  await page.getByRole('button', { name: 'Open navigation' }).click()
  await link.click()

  await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
  await page.getByRole('button', { name: 'Open navigation' }).waitFor()
  expect(complaints).toEqual([])
})

test('a person with several accounts switches between them, and stays in their part of it', async () => {
  const { page, context, openOfAccount, email, complaints } = await dashboard.signedIn()
  const { server } = dashboard
  const other = await server.account()
  await server.deps.db.updateTable('accounts').set({ name: 'Other' }).where('id', '=', other.accountId).execute()
  const { path } = await inviteOwner(server.deps, other.accountId, { email, role: 'viewer' })
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
  expect(await findBarriers(page)).toEqual([])
  expect(complaints).toEqual([])
})

test('a person without an account is told so', async () => {
  const { page, open, account, complaints } = await dashboard.signedIn()
  await dashboard.server.deps.db.deleteFrom('owner_roles').where('account_id', '=', account.accountId).execute()
  await open('/')

  await page.getByText('No accounts').waitFor()
  expect(complaints).toEqual([])
})

test('an account of somebody else is not there', async () => {
  const { page, open, complaints } = await dashboard.signedIn()
  await open('/acc_of_somebody_else/messages')

  await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor()
  expect(complaints).toEqual([])
})

test.each(['light', 'dark'] as const)('the frame has no barriers in %s', async (colorScheme) => {
  const { page, openOfAccount, complaints } = await dashboard.signedIn({ colorScheme })
  await openOfAccount('public-api')
  await page.getByRole('heading', { level: 1 }).waitFor()

  expect(await findBarriers(page)).toEqual([])
  await page.getByRole('button', { name: /User menu/ }).click()
  await page.getByRole('menuitem', { name: 'Profile' }).waitFor()
  expect(await findBarriers(page)).toEqual([])
  expect(complaints).toEqual([])
})
