import { expect, test } from 'vitest'
import { setSuppressedCategories } from '../../../src/messages/suppressions/check.ts'
import { findAccessibilityViolations, findViolationsInBothSchemes, useDashboard } from './support.ts'

const dashboard = useDashboard()

test('adds, finds and removes recipients', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await openOfAccount('suppressions')
  await page.getByText('Nobody has opted out').waitFor()
  const headings = await page.getByRole('heading', { level: 2 }).allTextContents()
  expect(headings).toEqual(['Suppressed recipients', 'Stopped categories', 'Erase a person'])
  await page.getByRole('button', { name: 'Add recipients' }).click()
  expect(await findViolationsInBothSchemes(page)).toEqual([])

  await page.getByLabel('Recipients to add').fill('34600000001\n+34 600')
  await page.getByRole('button', { name: 'Add to list' }).click()
  await page.getByText('+34 600 is not a valid number or user ID.').waitFor()
  await page.getByLabel('Recipients to add').fill('34600000001, +34 600 00 00 02\n34600000003')
  await page.getByRole('button', { name: 'Add to list' }).click()
  await page.getByText('3 recipients added.').waitFor()
  await page.getByRole('cell', { name: '+34600000002', exact: true }).waitFor()
  expect((await account.trpc.suppression.list.query({})).items).toHaveLength(3)
  expect(await findViolationsInBothSchemes(page)).toEqual([])

  await page.getByLabel('Find a recipient').fill('+34 600 000 003')
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
  await page.getByLabel('Find a recipient').fill('')
  await page.getByRole('cell', { name: 'Marketing and Utility' }).first().waitFor()
  expect(await page.getByRole('checkbox', { name: 'Marketing' }).isDisabled()).toBe(true)
  const utility = { to: '34600000001', template: 'order_shipped', language: 'en', variables: { '1': 'Ada', '2': 'W' } }
  expect((await account.post('/api/v1/message/send', utility)).statusCode).toBe(422)

  await page.getByRole('checkbox', { name: 'Utility' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Send again to everybody' }).click()
  await page.getByRole('checkbox', { name: 'Utility', checked: false }).waitFor()
  expect((await account.post('/api/v1/message/send', utility)).statusCode).toBe(200)
})

test('says how many recipients of a long list were added before a request failed', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await openOfAccount('suppressions#add')
  const numbers = Array.from({ length: 1001 }, (_, index) => `3460000${String(index).padStart(4, '0')}`)
  let requests = 0
  await page.route(/suppression\.import/, (route) => (++requests === 2 ? route.abort() : route.continue()))
  await page.getByLabel('Recipients to add').fill(numbers.join('\n'))
  await page.getByRole('button', { name: 'Add to list' }).click()
  await page.getByText('1,000 recipients added. Could not reach the server.').waitFor()

  await page.getByRole('button', { name: 'Add to list' }).click()

  await page.getByText(/1 recipient added\. 1,?000 already on the list\./).waitFor()
  expect((await account.trpc.suppression.list.query({ to: '34600001000' })).items).toHaveLength(1)
})

test('keeps a category that another owner stopped meanwhile', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await openOfAccount('suppressions')
  await page.getByRole('checkbox', { name: 'Utility' }).click()
  const { deps } = dashboard.server
  await setSuppressedCategories(deps, account.accountId, ['MARKETING', 'AUTHENTICATION'])

  await page.getByRole('dialog').getByRole('button', { name: 'Stop for everybody' }).click()

  await page.getByRole('checkbox', { name: 'Authentication', checked: true }).waitFor()
  await page.getByRole('checkbox', { name: 'Utility', checked: true }).waitFor()
})

test('rejects numbers without their country code, and says how to complete them', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await openOfAccount('suppressions#add')
  const field = page.getByLabel('Recipients to add')
  for (const typed of ['212 555 1234', '+34 600 000 001\n212 555 1234']) {
    await field.fill(typed)
    await page.getByRole('button', { name: 'Add to list' }).click()
    await page.getByText(/^2125551234: Start with the country code, such as 1 for .* has 10 digits, .*$/).waitFor()
    expect(await field.getAttribute('aria-invalid')).toBe('true')
  }
  expect((await account.trpc.suppression.list.query({})).items).toEqual([])
})

test('suppresses all messages to one recipient', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await openOfAccount('suppressions#add')
  await page.getByLabel('Recipients to add').fill('+34 600 000 004')
  await page.getByText('Still sent: order notices and one-time codes.').waitFor()
  await page.getByRole('radio', { name: 'All messages' }).check()
  await page.getByRole('button', { name: 'Add to list' }).click()
  const row = page.getByRole('row').filter({ hasText: '+34600000004' })
  await row.getByText('All messages').waitFor()
  await row.getByRole('cell', { name: /@example\.com$/ }).waitFor()

  const code = { to: '34600000004', template: 'login_code', language: 'en', code: '481516' }
  expect((await account.post('/api/v1/message/send', code)).json().error.code).toBe('RECIPIENT_SUPPRESSED')
  expect(await findAccessibilityViolations(page)).toEqual([])
})

test('adds, finds and removes the user ID of someone who hides the number', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await openOfAccount('suppressions#add')
  await page.getByLabel('Recipients to add').fill('ES.2041776300912345\n+34 600 000 005')
  await page.getByRole('button', { name: 'Add to list' }).click()
  await page.getByText('2 recipients added.').waitFor()

  await page.getByLabel('Find a recipient').fill('ES.2041776300912345')
  await page.getByRole('cell', { name: '+34600000005', exact: true }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Remove ES.2041776300912345' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove recipient' }).click()
  await page.getByText('ES.2041776300912345 removed.').waitFor()

  expect((await account.trpc.suppression.list.query({})).items).toMatchObject([{ to: '34600000005' }])
})

test('shows owners the command that erases a person', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await openOfAccount('suppressions')

  const command = page.getByRole('region', { name: 'Erase a person' }).getByRole('textbox', { name: 'Command' })
  expect(await command.inputValue()).toBe(`waybill recipient erase NUMBER --account ${account.accountId}`)
  expect(await findAccessibilityViolations(page)).toEqual([])
})

test('stops messages to a user ID from its message', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  const variables = { '1': 'Ada', '2': 'W' }
  const sent = await account.trpc.message.send.mutate({
    recipient: 'ES.2041776300912346',
    template: 'order_shipped',
    language: 'en',
    variables,
  })
  await openOfAccount(`messages/${sent.messageId}`)
  await page.getByRole('heading', { name: 'Message to ES.2041776300912346' }).waitFor()
  await page.getByRole('button', { name: 'Stop messages' }).click()
  await page.getByRole('dialog').getByRole('radio', { name: 'Only marketing' }).check()
  await page.getByRole('dialog').getByRole('button', { name: 'Stop messages' }).click()
  await page.getByText('ES.2041776300912346 is on the suppression list now.').waitFor()

  expect((await account.trpc.suppression.list.query({})).items).toMatchObject([{ to: 'ES.2041776300912346' }])
})

test('shows viewers the list without actions, also on a phone', async () => {
  const viewport = { width: 390, height: 844 }
  const { page, openOfAccount, account } = await dashboard.signedIn({ role: 'viewer', viewport })
  await account.trpc.suppression.add.mutate({ to: '34600000009' })
  await openOfAccount('suppressions')

  await page.getByRole('listitem').filter({ hasText: '+34600000009' }).getByText('Added by API key').waitFor()
  expect(await page.getByRole('button', { name: /^Remove/ }).count()).toBe(0)
  expect(await page.getByRole('checkbox', { name: 'Utility' }).isDisabled()).toBe(true)
  await page.getByRole('region', { name: 'Stopped categories' }).getByText('Viewers have read-only access.').waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  expect(await findAccessibilityViolations(page)).toEqual([])
})
