import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DashboardBrowser, findAccessibilityViolations, startDashboard } from './support.ts'

let dashboard: DashboardBrowser

beforeAll(async () => {
  dashboard = await startDashboard()
})

afterAll(async () => {
  await dashboard?.close()
})

test.each(['light', 'dark'] as const)('adds, finds and removes recipients in %s', async (colorScheme) => {
  const { page, openOfAccount, account, pageErrors } = await dashboard.signedIn({ colorScheme })
  await openOfAccount('suppressions')
  await page.getByText('Nobody has opted out').waitFor()

  await page.getByLabel('Numbers').fill('34600000001\n+34 600')
  await page.getByRole('button', { name: 'Add to list' }).click()
  await page.getByText('+34 600 is not a valid number.').waitFor()
  await page.getByLabel('Numbers').fill('34600000001, +34 600 00 00 02\n34600000003')
  await page.getByRole('button', { name: 'Add to list' }).click()
  await page.getByText('3 recipients added.').waitFor()
  await page.getByRole('cell', { name: '+34600000002', exact: true }).waitFor()
  expect((await account.trpc.suppression.list.query({})).items).toHaveLength(3)
  expect(await findAccessibilityViolations(page)).toEqual([])

  await page.getByLabel('Find a number').fill('+34 600 000 003')
  await page.getByRole('cell', { name: '+34600000002', exact: true }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Remove +34600000003' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove recipient' }).click()
  await page.getByText('Not on the list').waitFor()
  expect((await account.trpc.suppression.list.query({})).items.map(({ to }) => to).toSorted()).toEqual([
    '34600000001',
    '34600000002',
  ])

  await page.getByRole('checkbox', { name: 'Utility' }).click()
  const question = page.getByRole('dialog', { name: 'Stop Utility for everybody on the list?' })
  await question.getByRole('button', { name: 'Stop for everybody' }).click()
  await page.getByText('Stopped categories saved.').waitFor()
  await page.getByRole('checkbox', { name: 'Utility', checked: true }).waitFor()
  await page.getByLabel('Find a number').fill('')
  await page.getByRole('cell', { name: 'Marketing and Utility' }).first().waitFor()
  expect(await page.getByRole('checkbox', { name: 'Marketing' }).isDisabled()).toBe(true)
  const utility = { to: '34600000001', template: 'order_shipped', language: 'en', variables: { '1': 'Ada', '2': 'W' } }
  expect((await account.post('/api/v1/message/send', utility)).statusCode).toBe(422)

  await page.getByRole('checkbox', { name: 'Utility' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Send again to everybody' }).click()
  await page.getByRole('checkbox', { name: 'Utility', checked: false }).waitFor()
  expect((await account.post('/api/v1/message/send', utility)).statusCode).toBe(200)
  expect(pageErrors).toEqual([])
})

test('suppresses all messages to one recipient', async () => {
  const { page, openOfAccount, account, pageErrors } = await dashboard.signedIn()
  await openOfAccount('suppressions')
  await page.getByLabel('Numbers').fill('+34 600 000 004')
  await page.getByText('Still sent: order notices and one-time codes.').waitFor()
  await page.getByRole('radio', { name: 'All messages' }).check()
  await page.getByRole('button', { name: 'Add to list' }).click()
  await page.getByRole('row').filter({ hasText: '+34600000004' }).getByText('All messages').waitFor()

  const code = { to: '34600000004', template: 'login_code', language: 'en', code: '481516' }
  expect((await account.post('/api/v1/message/send', code)).json().error.code).toBe('RECIPIENT_SUPPRESSED')
  expect(await findAccessibilityViolations(page)).toEqual([])
  expect(pageErrors).toEqual([])
})

test('shows viewers the list without actions, also on a phone', async () => {
  const viewport = { width: 390, height: 844 }
  const { page, openOfAccount, account, pageErrors } = await dashboard.signedIn({ role: 'viewer', viewport })
  await account.trpc.suppression.add.mutate({ to: '34600000009' })
  await openOfAccount('suppressions')

  await page.getByRole('listitem').filter({ hasText: '+34600000009' }).waitFor()
  expect(await page.getByRole('button', { name: /^Remove/ }).count()).toBe(0)
  expect(await page.getByRole('checkbox', { name: 'Utility' }).isDisabled()).toBe(true)
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  expect(await findAccessibilityViolations(page)).toEqual([])
  expect(pageErrors).toEqual([])
})
